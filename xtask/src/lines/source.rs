//! The lines of one source file.

/// Counts of a file. Blank lines and comments do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    /// Lines outside of tests.
    pub(super) code: usize,
    /// Lines of items below `#[cfg(test)]`.
    pub(super) tests: usize,
    /// Names of modules in other files that are declared below `#[cfg(test)]`.
    pub(super) test_modules: Vec<String>,
}

impl Source {
    /// Counts the lines of `text`.
    pub(super) fn read(text: &str) -> Self {
        let code = without_comments(text);
        let mut source = Self::default();
        let mut lines = code.lines().filter(|line| !line.trim().is_empty());

        while let Some(line) = lines.next() {
            if !is_test_attribute(line) {
                source.code += 1;
                continue;
            }
            source.tests += 1;
            let mut depth = 0_usize;
            for line in lines.by_ref() {
                source.tests += 1;
                if let Some(name) = declared_module(line) {
                    source.test_modules.push(name.to_owned());
                }
                for byte in line.bytes() {
                    match byte {
                        b'{' | b'(' | b'[' => depth += 1,
                        b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
                let line = line.trim_end();
                if depth == 0 && (line.ends_with(['}', ';', ','])) {
                    break;
                }
            }
        }
        source
    }
}

fn is_test_attribute(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#[cfg(test") || line.starts_with("#[cfg(all(test")
}

/// Returns `name` of a line `mod name;`.
fn declared_module(line: &str) -> Option<&str> {
    let (_, name) = line.trim().strip_suffix(';')?.split_once("mod ")?;
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        .then_some(name)
}

/// Replaces comments by blanks and the characters of texts by `x`, and keeps the line breaks.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, mask) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), ' ')
        } else if rest.starts_with("/*") {
            (block_comment(rest), ' ')
        } else if let Some(length) = literal(rest, code.chars().next_back()) {
            (length, 'x')
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (masked, after) = rest.split_at(length);
        code.extend(masked.chars().map(|c| if c == '\n' { c } else { mask }));
        rest = after;
    }
    code
}

/// Returns the length of the block comment at the start of `text`, which may have others inside.
fn block_comment(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the length of the text or character literal at the start of `text`, if there is one.
fn literal(text: &str, before: Option<char>) -> Option<usize> {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if let Some(raw) = text
        .strip_prefix('r')
        .filter(|_| !in_word || before == Some('b'))
    {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = 1 + hashes + 1;
            let length = text[start..].find(&end).map(|at| start + at + end.len());
            return Some(length.unwrap_or(text.len()));
        }
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    if quote == '\'' {
        // A lifetime has no second quote behind its first character.
        let mut chars = text[1..].chars();
        let first = chars.next()?;
        if first != '\\' && chars.next() != Some('\'') {
            return None;
        }
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> (usize, usize) {
        let source = Source::read(text);
        (source.code, source.tests)
    }

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        for (text, code) in [
            ("//! About.\n\n/// A.\nfn a() {} // here\n", 1),
            ("/* one\n two /* three */\n four */ fn a() {}\n", 1),
            ("let a = \"// no comment\";\n", 1),
            ("let a = \"one\n// two\nthree\";\n", 3),
            ("let a = r#\"a \" // b\"#; // c\nlet b = br\"/*\";\n", 2),
            ("let quote = '\"';\n// a\nlet end = '\\'';\n", 2),
            ("fn a<'a>(b: &'a str) {}\n/* ' */\n", 1),
            ("let for_ = 1; let xr = xr;\n", 1),
            ("", 0),
        ] {
            assert_eq!(counts(text), (code, 0), "{text:?}");
        }
    }

    #[test]
    fn items_below_cfg_test_are_tests() {
        let module = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    // A comment.\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(counts(module), (2, 5));

        let braces_in_texts =
            "#[cfg(test)]\nmod tests {\n    const A: &str = \"}\";\n}\nfn c() {}\n";
        assert_eq!(counts(braces_in_texts), (1, 4));

        let attributes =
            "#[cfg(all(test, unix))]\n#[allow(dead_code)]\nfn b(\n    c: u8,\n) {\n}\nfn d() {}\n";
        assert_eq!(counts(attributes), (1, 6));

        let field = "struct A {\n    #[cfg(test)]\n    b: u8,\n    c: u8,\n}\n";
        assert_eq!(counts(field), (3, 2));
    }

    #[test]
    fn test_modules_in_other_files_are_named() {
        let source = Source::read("#[cfg(test)]\npub(crate) mod support;\nmod product;\n");

        assert_eq!(source.test_modules, ["support"]);
        assert_eq!((source.code, source.tests), (1, 2));
    }
}
