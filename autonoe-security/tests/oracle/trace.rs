//! Parses Bash's trace of the commands that it starts.
//!
//! Every record starts with [`PREFIX`] on its own line, whatever the texts in it contain. A line
//! break in a name, an argument or a here-document therefore starts no record.

/// The value of `PS4`. Bash repeats the first character for each level of substitution. No
/// candidate contains the rest.
pub(crate) const PREFIX: &str = "+trace-5e1f8c0d ";

/// Returns the names of the simple commands in a trace, in order.
pub(crate) fn names(trace: &str) -> Vec<String> {
    // A truncated trace ends in the middle of a record.
    let whole = trace.rsplit_once('\n').map_or("", |(whole, _)| whole);
    // The handler of missing programs starts with this, and is not traced afterwards.
    let own = records(whole).into_iter().filter(|it| *it != "set +x");
    own.filter_map(name).collect()
}

/// Splits a trace at the prefixes at the start of a line.
fn records(trace: &str) -> Vec<&str> {
    let marker = PREFIX.trim_start_matches('+');
    let is_begin = |at: usize| {
        let line = trace[..at].rsplit('\n').next().unwrap_or_default();
        !line.is_empty() && line.bytes().all(|byte| byte == b'+')
    };
    let begins: Vec<usize> = trace
        .match_indices(marker)
        .map(|(at, _)| at)
        .filter(|at| is_begin(*at))
        .collect();
    let ends = begins.iter().skip(1).map(|next| {
        let line = trace[..*next].rfind('\n').unwrap_or(0);
        line.min(*next)
    });
    let ends = ends.chain([trace.len()]);
    let spans = begins.iter().zip(ends);
    spans
        .map(|(at, end)| &trace[at + marker.len()..end])
        .collect()
}

/// Returns the name in one record; `None` if it is not a simple command.
fn name(record: &str) -> Option<String> {
    let (word, rest) = word(record);
    let is_keyword = ["[[", "((", "for", "case", "select"]
        .iter()
        .any(|keyword| record.split([' ', '\n']).next() == Some(keyword));
    (!word.is_empty() && !is_keyword && !is_assignment(record, rest)).then_some(word)
}

/// Returns whether a record is an assignment: Bash writes a separate record for each.
///
/// `rest` follows the first word. A command called `a=b` looks like an assignment, unless it has
/// arguments. Only assignments contain unquoted brackets and parentheses.
fn is_assignment(record: &str, rest: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let behind = record.trim_start_matches(is_name);
    let begins = record.len() > behind.len() && !record.starts_with(|c: char| c.is_ascii_digit());
    let value = behind.strip_prefix('+').unwrap_or(behind);
    begins
        && (behind.starts_with('[')
            || value.starts_with("=(")
            || value.starts_with('=') && rest.is_empty())
}

/// Splits off the first word, as Bash quotes words in a trace. The empty word is `''`.
fn word(text: &str) -> (String, &str) {
    let mut word = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == ' ' {
            rest = &rest[1..];
            break;
        }
        rest = if let Some(quoted) = rest.strip_prefix("$'") {
            decode_ansi_c(quoted, &mut word)
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let (inside, behind) = quoted.split_once('\'').unwrap_or((quoted, ""));
            word.extend_from_slice(inside.as_bytes());
            behind
        } else {
            let plain = rest.strip_prefix('\\').unwrap_or(rest);
            let length = plain.chars().next().map_or(0, char::len_utf8);
            word.extend_from_slice(&plain.as_bytes()[..length]);
            &plain[length..]
        };
    }
    if word.is_empty() && text.starts_with('\'') {
        word.extend_from_slice(b"''");
    }
    (String::from_utf8_lossy(&word).into_owned(), rest)
}

/// Decodes the text after `$'`, and returns the text after the closing quote.
fn decode_ansi_c<'t>(quoted: &'t str, word: &mut Vec<u8>) -> &'t str {
    let mut rest = quoted;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\'' => return after,
            '\\' => {
                let digits = after.len() - after.trim_start_matches(|c: char| c.is_digit(8)).len();
                if let Ok(byte) = u8::from_str_radix(&after[..digits.min(3)], 8) {
                    word.push(byte);
                    rest = &after[digits.min(3)..];
                    continue;
                }
                let escaped = after.chars().next().unwrap_or('\\');
                let byte = match escaped {
                    'a' => 0x07,
                    'b' => 0x08,
                    'E' => 0x1b,
                    'f' => 0x0c,
                    'n' => b'\n',
                    'r' => b'\r',
                    't' => b'\t',
                    'v' => 0x0b,
                    // A backslash or a quote.
                    _ => u8::try_from(escaped).unwrap_or(b'?'),
                };
                word.push(byte);
                rest = after.get(escaped.len_utf8()..).unwrap_or_default();
            }
            _ => {
                word.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
                rest = after;
            }
        }
    }
    rest
}
