//! Path patterns: text with control characters in place of unknown parts.

use super::arg::Arg;

// Control characters mark unknown text. They cannot occur otherwise: R2 denies them in commands.

/// Matches any text without a slash, like an unquoted `*`.
pub(crate) const STAR: char = '\u{1}';
/// Matches one character, like an unquoted `?` or `[..]`.
pub(crate) const ANY: char = '\u{2}';
/// The value of an expansion.
pub(crate) const EXPANSION: char = '\u{3}';

/// Characters that end a path in the text of a program.
pub(crate) const BOUNDARIES: [char; 18] = [
    ' ', '\t', '\n', '\r', '\'', '"', '`', '(', ')', ',', ';', '=', ':', '<', '>', '|', '&', '@',
];

/// Returns the text of an argument with its wildcards, and one expansion if its end is unknown.
pub(crate) fn from_arg(arg: &Arg<'_>) -> String {
    let mut pattern = if arg.globs.is_empty() {
        arg.text.to_string()
    } else {
        with_wildcards(arg)
    };
    if !arg.is_static() {
        pattern.push(EXPANSION);
    }
    pattern
}

fn with_wildcards(arg: &Arg<'_>) -> String {
    let mut pattern = String::new();
    let mut in_set = false;
    for (at, c) in arg.text.char_indices() {
        let is_glob = arg.globs.contains(&at);
        match c {
            _ if in_set => in_set = c != ']',
            '*' if is_glob => pattern.push(STAR),
            '[' if is_glob => {
                pattern.push(ANY);
                in_set = true;
            }
            _ if is_glob => pattern.push(ANY),
            c => pattern.push(c),
        }
    }
    pattern
}

/// Returns whether the component `pattern` may be `name`.
pub(crate) fn may_match(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    let mut star = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some(&(STAR | EXPANSION)) => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(&c) if c == ANY || c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => match star {
                Some((star_at, matched)) => {
                    star = Some((star_at, matched + 1));
                    at = star_at + 1;
                    in_name = matched + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| matches!(*c, STAR | EXPANSION))
}
