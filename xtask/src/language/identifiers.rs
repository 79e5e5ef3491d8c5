//! Identifiers of Rust code, without those in strings and comments.

use std::iter;

/// An identifier and the line it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identifier<'a> {
    pub(super) line: usize,
    pub(super) name: &'a str,
    /// Whether the word before it is `fn`.
    pub(super) is_function: bool,
}

/// Returns the identifiers of `code` in order. Keywords are identifiers, too.
pub(super) fn identifiers(code: &str) -> impl Iterator<Item = Identifier<'_>> {
    let mut rest = code;
    let mut line = 1;
    let mut is_function = false;
    iter::from_fn(move || {
        loop {
            let length = token_length(rest)?;
            let (token, after) = rest.split_at(length);
            let found = Identifier {
                line,
                name: token,
                is_function,
            };
            rest = after;
            line += token.matches('\n').count();
            if token.starts_with(is_identifier_start) && !is_literal(token) {
                is_function = token == "fn";
                return Some(found);
            }
        }
    })
}

/// Splits a name into its words, in lower case: `KeptWork` and `kept_work` are `kept` and `work`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_after_lower_case = false;
    for character in name.chars() {
        let ends_word = character == '_' || (character.is_uppercase() && is_after_lower_case);
        if ends_word && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character != '_' {
            word.extend(character.to_lowercase());
        }
        is_after_lower_case = character.is_lowercase() || character.is_ascii_digit();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns the length of the first token, or `None` at the end.
fn token_length(code: &str) -> Option<usize> {
    let first = code.chars().next()?;
    let length = match first {
        '/' if code.starts_with("//") => code.find('\n').unwrap_or(code.len()),
        '/' if code.starts_with("/*") => block_comment_length(code),
        '"' => string_length(code),
        '\'' => quote_length(code),
        _ if is_identifier_start(first) => {
            let length = identifier_length(code);
            prefixed_literal_length(code, length).unwrap_or(length)
        }
        // The letters of `0xff` and `1u8` are no identifiers.
        _ if first.is_ascii_digit() => identifier_length(code),
        _ => other_length(code),
    };
    Some(length)
}

fn is_identifier_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

/// Returns the length of the letters, digits and underscores at the beginning.
///
/// All characters beyond ASCII count: in valid code they are letters.
fn identifier_length(code: &str) -> usize {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let end = code.bytes().position(|byte| !is_part(byte));
    end.unwrap_or(code.len())
}

/// Returns the length up to the next character that can begin another token.
fn other_length(code: &str) -> usize {
    let is_start = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'"' | b'\'' | b'/')
            || !byte.is_ascii()
    };
    let first = code.chars().next().map_or(1, char::len_utf8);
    let end = code.bytes().skip(first).position(is_start);
    end.map_or(code.len(), |end| first + end)
}

/// Says whether a token that begins like an identifier is a literal such as `b"x"`.
fn is_literal(token: &str) -> bool {
    token.ends_with(['"', '\'', '#'])
}

/// Returns the length of a literal with the prefix of `prefix` bytes: `r"x"`, `br#"x"#`, `b'x'`.
fn prefixed_literal_length(code: &str, prefix: usize) -> Option<usize> {
    let (name, rest) = code.split_at(prefix);
    match name {
        "r" | "br" | "cr" => {
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            let body = rest[hashes..].strip_prefix('"')?;
            let end = format!("\"{}", "#".repeat(hashes));
            let length = body.find(&end).map_or(body.len(), |at| at + end.len());
            Some(prefix + hashes + 1 + length)
        }
        "b" | "c" if rest.starts_with('"') => Some(prefix + string_length(rest)),
        "b" if rest.starts_with('\'') => Some(prefix + quote_length(rest)),
        _ => None,
    }
}

fn block_comment_length(code: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < code.len() {
        if code[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if code[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += code[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    code.len()
}

/// Returns the length of the string at the beginning, with its quotes.
fn string_length(code: &str) -> usize {
    let mut is_escaped = false;
    let end = code[1..].find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    });
    end.map_or(code.len(), |end| end + 2)
}

/// Returns the length of a character literal, or of the quote of a lifetime.
fn quote_length(code: &str) -> usize {
    let mut characters = code[1..].char_indices();
    let (Some((_, first)), Some((second_at, second))) = (characters.next(), characters.next())
    else {
        return 1;
    };
    if first == '\\' {
        let after = 1 + second_at + second.len_utf8();
        return code[after..].find('\'').map_or(1, |end| after + end + 1);
    }
    if second == '\'' { second_at + 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(code: &str) -> Vec<(usize, &str)> {
        let found = identifiers(code);
        found.map(|found| (found.line, found.name)).collect()
    }

    #[test]
    fn skips_comments_and_literals() {
        let code = "a // said\n/* told /* said */ told */ b \"told \\\" said\" c\n\
                    r#\"told \" said\"# d b\"told\" 'e' '\\'' f 'told g 0xff_told";

        let names: Vec<_> = names(code).into_iter().map(|(_, name)| name).collect();

        assert_eq!(names, ["a", "b", "c", "d", "f", "told", "g"]);
    }

    #[test]
    fn counts_lines_of_literals_and_comments() {
        let code = "a\n\"x\ny\" /*\n*/ b";

        assert_eq!(names(code), [(1, "a"), (4, "b")]);
    }

    #[test]
    fn marks_names_of_functions() {
        let found: Vec<_> = identifiers("fn a(b: u8)")
            .filter(|found| found.is_function)
            .map(|found| found.name)
            .collect();

        assert_eq!(found, ["a"]);
    }

    #[test]
    fn splits_names_into_words() {
        assert_eq!(words("KeptWork"), ["kept", "work"]);
        assert_eq!(words("LOOK_AGAIN"), ["look", "again"]);
        assert_eq!(words("_is_told2"), ["is", "told2"]);
    }
}
