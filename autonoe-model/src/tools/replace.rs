//! Replacing a part of a text: what Edit does, without files.

use memchr::memmem;

/// Which of several places is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The only one.
    One,
    /// All of them, from the beginning.
    All,
}

/// A text in which something was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    pub(super) text: Vec<u8>,
    pub(super) count: usize,
    /// The line that the first of them begins in, from 1.
    pub(super) line: usize,
}

/// Why nothing was replaced.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotReplaced {
    #[error("old_string is empty; use Write to make a file")]
    Nothing,
    #[error("old_string and new_string are the same")]
    Same,
    #[error(
        "old_string is not in the file; it must be there exactly, with all blanks and line ends"
    )]
    NotFound,
    #[error(
        "old_string is in the file {0} times; make it longer until it is there once, or set \
         replace_all"
    )]
    Several(usize),
}

/// Replaces `old` in `text` by `new`.
///
/// Line ends of the file are kept: where it has CR LF, so has what is looked for, should it
/// not be there as given, and what it is replaced by.
pub(super) fn replace(
    text: &[u8],
    old: &str,
    new: &str,
    which: Which,
) -> Result<Replaced, NotReplaced> {
    if old.is_empty() {
        return Err(NotReplaced::Nothing);
    }
    if old == new {
        return Err(NotReplaced::Same);
    }
    let places = places(text, old.as_bytes());
    if places.is_empty() && old.contains('\n') && memmem::find(text, b"\r\n").is_some() {
        let (windows_old, windows_new) = (with_crlf(old), with_crlf(new));
        if windows_old != old {
            return replace(text, &windows_old, &windows_new, which);
        }
    }
    match (places.as_slice(), which) {
        ([], _) => Err(NotReplaced::NotFound),
        ([place], _) => Ok(replaced(text, &[*place], old, new)),
        (several, Which::One) => Err(NotReplaced::Several(several.len())),
        (_, Which::All) => {
            let apart: Vec<_> = memmem::find_iter(text, old.as_bytes()).collect();
            Ok(replaced(text, &apart, old, new))
        }
    }
}

/// Finds all places, also those that overlap: two that do are still two that may be meant.
fn places(text: &[u8], old: &[u8]) -> Vec<usize> {
    let finder = memmem::Finder::new(old);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(place) = finder.find(&text[from..]) {
        found.push(from + place);
        from += place + 1;
    }
    found
}

fn replaced(text: &[u8], places: &[usize], old: &str, new: &str) -> Replaced {
    let mut result = Vec::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        result.extend_from_slice(&text[from..*place]);
        result.extend_from_slice(new.as_bytes());
        from = place + old.len();
    }
    result.extend_from_slice(&text[from..]);
    let before = places.first().map_or(&[][..], |first| &text[..*first]);
    Replaced {
        text: result,
        count: places.len(),
        line: memchr::memchr_iter(b'\n', before).count() + 1,
    }
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str, old: &str, new: &str, which: Which) -> Result<String, NotReplaced> {
        let replaced = replace(text.as_bytes(), old, new, which)?;
        Ok(String::from_utf8(replaced.text).expect("UTF-8 in, UTF-8 out"))
    }

    #[test]
    fn what_is_there_once_is_replaced_and_all_else_is_refused() {
        for (before, old, new, after) in [
            ("a b c", "b", "x", Ok("a x c")),
            ("a b c", "b", "", Ok("a  c")),
            ("one", "one", "two\n", Ok("two\n")),
            ("a\tb", "a\tb", "c", Ok("c")),
            ("a b c", "d", "x", Err(NotReplaced::NotFound)),
            ("a b c", "B", "x", Err(NotReplaced::NotFound)),
            ("a b a", "a", "x", Err(NotReplaced::Several(2))),
            ("aaa", "aa", "x", Err(NotReplaced::Several(2))),
            ("a", "a", "a", Err(NotReplaced::Same)),
            ("a", "", "x", Err(NotReplaced::Nothing)),
            ("", "a", "x", Err(NotReplaced::NotFound)),
        ] {
            let found = text(before, old, new, Which::One);
            assert_eq!(found, after.map(str::to_owned), "{before:?} {old:?}");
        }
    }

    #[test]
    fn all_are_replaced_on_demand() {
        assert_eq!(text("a b a", "a", "aa", Which::All), Ok("aa b aa".into()));
        assert_eq!(text("aaaa", "aa", "b", Which::All), Ok("bb".into()));
        assert_eq!(text("x", "a", "b", Which::All), Err(NotReplaced::NotFound));
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        let found = text("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", Which::One);
        assert_eq!(found, Ok("x\r\ny\r\nz\r\nc\r\n".into()));
        assert_eq!(
            text("a\r\nb", "a\r\nb", "x", Which::One),
            Ok("x".to_owned())
        );
        assert_eq!(
            text("a\r\nb", "b\nc", "x", Which::One),
            Err(NotReplaced::NotFound)
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_kept() {
        let replaced = replace(b"\xff\x00 a \xfe", "a", "b", Which::One).expect("once");

        assert_eq!(replaced.text, b"\xff\x00 b \xfe");
    }

    proptest! {
        #[test]
        fn only_the_place_is_changed(
            before in "[a-c \n]{0,40}",
            old in "[x-z]{1,10}",
            new in "[a-z\n]{0,10}",
            after in "[a-c \n]{0,40}",
        ) {
            prop_assume!(old != new);
            let whole = format!("{before}{old}{after}");

            let replaced = replace(whole.as_bytes(), &old, &new, Which::One).expect("once");

            prop_assert_eq!(replaced.text, format!("{before}{new}{after}").into_bytes());
            prop_assert_eq!(replaced.line, before.matches('\n').count() + 1);
        }

        #[test]
        fn it_never_panics_and_never_replaces_one_of_several(
            whole in "[ab\r\n]{0,30}",
            old in "[ab\n]{0,4}",
            new in "[ab\n]{0,4}",
        ) {
            match replace(whole.as_bytes(), &old, &new, Which::One) {
                Ok(replaced) => prop_assert_eq!(replaced.count, 1),
                Err(NotReplaced::Several(count)) => {
                    prop_assert!(count > 1);
                    let all = replace(whole.as_bytes(), &old, &new, Which::All).expect("several");
                    let windows = whole.contains("\r\n") && !whole.contains(&old);
                    if !windows {
                        prop_assert_eq!(all.text, whole.replace(&old, &new).into_bytes());
                    }
                }
                Err(_) => {}
            }
        }
    }
}
