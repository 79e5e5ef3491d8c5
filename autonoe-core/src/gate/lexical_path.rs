//! Path normalisation by text alone, and detection of a leading `~`. [`Resolver`](resolver::Resolver)
//! follows symlinks.

pub(crate) mod path_candidates;
pub(crate) mod resolver;

use std::borrow::Cow;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

/// Returns `path` as an absolute path without `.` and `..`.
///
/// The parent of the root is the root, as in the operating system. Symlinks are not resolved, so
/// `..` after a symlink may differ from the result of the operating system.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from(MAIN_SEPARATOR_STR);
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

/// Start of a path, for a tool that expands `~`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The directory of the call, or the root.
    Here,
    /// The home directory of the user, with the rest of the path.
    Home(PathBuf),
    /// The home directory of another user, whose location is unknown.
    OtherHome,
}

/// Returns the start of `path`.
///
/// A lone `~name` is a file name, for example of an editor's backup file. `~name/file` can be in
/// the home directory of `name`.
pub(crate) fn path_start(path: &Path) -> Start {
    let mut parts = path.strip_prefix(".").unwrap_or(path).components();
    let Some(Component::Normal(first)) = parts.next() else {
        return Start::Here;
    };
    let rest = parts.as_path().to_owned();
    match first.as_encoded_bytes() {
        b"~" => Start::Home(rest),
        [b'~', ..] if !rest.as_os_str().is_empty() => Start::OtherHome,
        _ => Start::Here,
    }
}

/// Returns `text` without invisible characters.
pub(crate) fn strip_invisible(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_ignorable) {
        text.chars().filter(|c| !is_ignorable(*c)).collect()
    } else {
        text.into()
    }
}

/// Returns `text` without leading and trailing blanks and invisible characters.
pub(crate) fn trim_invisible(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_ignorable(c))
}

/// Returns whether `c` is a control character other than blanks, or ignorable by default in
/// Unicode.
fn is_ignorable(c: char) -> bool {
    const IGNORABLE: [(char, char); 17] = [
        ('\u{ad}', '\u{ad}'),
        ('\u{34f}', '\u{34f}'),
        ('\u{61c}', '\u{61c}'),
        ('\u{115f}', '\u{1160}'),
        ('\u{17b4}', '\u{17b5}'),
        ('\u{180b}', '\u{180f}'),
        ('\u{200b}', '\u{200f}'),
        ('\u{202a}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{3164}', '\u{3164}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{feff}', '\u{feff}'),
        ('\u{ffa0}', '\u{ffa0}'),
        ('\u{fff0}', '\u{fff8}'),
        ('\u{1bca0}', '\u{1bca3}'),
        ('\u{1d173}', '\u{1d17a}'),
        ('\u{e0000}', '\u{e0fff}'),
    ];
    match c {
        '\t' | '\n' | '\r' => false,
        _ if c.is_ascii() => c.is_ascii_control(),
        _ => {
            let mut ranges = IGNORABLE.iter();
            c.is_control() || ranges.any(|(first, last)| (*first..=*last).contains(&c))
        }
    }
}

/// Replaces percent-escapes such as `%2e` with the characters that they denote in URLs.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.as_bytes();
    while let Some((first, rest)) = left.split_first() {
        let (byte, rest) = decode_byte(left).unwrap_or((*first, rest));
        bytes.push(byte);
        left = rest;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Decodes an escaped byte and returns it with the rest of the text.
fn decode_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, rest) = text.strip_prefix(b"%")?.split_at_checked(2)?;
    let digit = |at: usize| char::from(digits[at]).to_digit(16);
    let byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    Some((byte, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_removed_and_the_root_has_no_parent() {
        for (path, normal) in [
            ("/a/./b", "/a/b"),
            ("/a/../b", "/b"),
            ("/../../b", "/b"),
            ("a/..", "/"),
            ("", "/"),
            ("/a//b/", "/a/b"),
        ] {
            assert_eq!(normalise(Path::new(path)), Path::new(normal), "{path}");
        }
    }

    #[test]
    fn a_tilde_at_the_start_is_a_home() {
        for (path, start) in [
            ("~", Start::Home("".into())),
            ("~/a/b", Start::Home("a/b".into())),
            ("./~/a", Start::Home("a".into())),
            ("~root/a", Start::OtherHome),
            ("~lock", Start::Here),
            ("a/~/b", Start::Here),
            ("/~/b", Start::Here),
            ("../~/b", Start::Here),
        ] {
            assert_eq!(path_start(Path::new(path)), start, "{path}");
        }
    }

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(strip_invisible("a\u{200b}b\0 c"), "ab c");
        assert_eq!(trim_invisible(" \u{feff}\t~/a b\u{200d}\n"), "~/a b");
        assert_eq!(trim_invisible(" \0"), "");
    }

    #[test]
    fn escapes_are_decoded_and_other_text_stays() {
        for (text, decoded) in [
            ("%2eautonoe", ".autonoe"),
            ("%C3%a9", "é"),
            ("100% of %zz and %2", "100% of %zz and %2"),
            ("%é%", "%é%"),
            ("", ""),
        ] {
            assert_eq!(percent_decoded(text), decoded, "{text}");
        }
    }
}
