//! Replacing a part of a text: what Edit does, without files.

use memchr::memmem;
use tokio_util::sync::CancellationToken;

/// So many places are counted for somebody who wanted one.
const MOST_COUNTED: usize = 10;

/// So many places are replaced before somebody is asked whether they are still wanted.
const AT_A_TIME: usize = 4096;

/// Which of several places is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The only one.
    One,
    /// All of them, from the beginning.
    All,
}

/// What is to be replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replacement<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) which: Which,
    /// How many bytes the result has at most.
    pub(super) most: u64,
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
    #[error(
        "old_string is in the file more than {MOST_COUNTED} times; make it longer until it is \
         there once, or set replace_all"
    )]
    Many,
    #[error("it would have more than {0} bytes then")]
    TooLarge(u64),
    #[error("nobody waits for it any more")]
    Cancelled,
}

impl Replacement<'_> {
    /// Replaces it in `text`, in time that grows with the text and not with what is replaced.
    /// A result that would be too large is not begun.
    ///
    /// Line ends of the file are kept: where it has CR LF, so has what is looked for, should it
    /// not be there as given, and what it is replaced by.
    pub(super) fn of(self, text: &[u8], stop: &CancellationToken) -> Result<Replaced, NotReplaced> {
        if self.old.is_empty() {
            return Err(NotReplaced::Nothing);
        }
        if self.old == self.new {
            return Err(NotReplaced::Same);
        }
        let finder = memmem::Finder::new(self.old);
        let Some(first) = finder.find(text) else {
            return self.with_line_ends_of(text, stop);
        };
        if self.which == Which::One {
            refuse_several(text, &finder, first)?;
        }
        let size = self.size(text, &finder, stop)?;
        let mut result = Vec::with_capacity(size);
        let (mut from, mut count) = (0, 0);
        for place in finder.find_iter(text) {
            go_on(count, stop)?;
            result.extend_from_slice(&text[from..place]);
            result.extend_from_slice(self.new.as_bytes());
            from = place + self.old.len();
            count += 1;
        }
        result.extend_from_slice(&text[from..]);
        Ok(Replaced {
            text: result,
            count,
            line: memchr::memchr_iter(b'\n', &text[..first]).count() + 1,
        })
    }

    fn with_line_ends_of(
        self,
        text: &[u8],
        stop: &CancellationToken,
    ) -> Result<Replaced, NotReplaced> {
        if !self.old.contains('\n') || memmem::find(text, b"\r\n").is_none() {
            return Err(NotReplaced::NotFound);
        }
        let (old, new) = (with_crlf(self.old), with_crlf(self.new));
        if old == self.old {
            return Err(NotReplaced::NotFound);
        }
        let (old, new) = (&*old, &*new);
        Replacement { old, new, ..self }.of(text, stop)
    }

    /// Returns how many bytes the result will have.
    fn size(
        &self,
        text: &[u8],
        finder: &memmem::Finder<'_>,
        stop: &CancellationToken,
    ) -> Result<usize, NotReplaced> {
        let too_large = || NotReplaced::TooLarge(self.most);
        let grows = self.new.len().saturating_sub(self.old.len());
        let shrinks = self.old.len().saturating_sub(self.new.len());
        let mut size = text.len();
        for (count, _) in finder.find_iter(text).enumerate() {
            go_on(count, stop)?;
            size = (size - shrinks).checked_add(grows).ok_or_else(too_large)?;
            // It does not become smaller again.
            if grows > 0 && size as u64 > self.most {
                return Err(too_large());
            }
        }
        match size as u64 > self.most {
            true => Err(too_large()),
            false => Ok(size),
        }
    }
}

/// Finds further places behind the first one, also those that overlap: two that do are still two
/// that may be meant.
///
/// Each takes as long as `old` is, so they are not counted to the end.
fn refuse_several(
    text: &[u8],
    finder: &memmem::Finder<'_>,
    first: usize,
) -> Result<(), NotReplaced> {
    let (mut count, mut from) = (1, first + 1);
    while let Some(place) = finder.find(&text[from..]) {
        count += 1;
        from += place + 1;
        if count > MOST_COUNTED {
            return Err(NotReplaced::Many);
        }
    }
    match count {
        1 => Ok(()),
        several => Err(NotReplaced::Several(several)),
    }
}

fn go_on(count: usize, stop: &CancellationToken) -> Result<(), NotReplaced> {
    match count.is_multiple_of(AT_A_TIME) && stop.is_cancelled() {
        true => Err(NotReplaced::Cancelled),
        false => Ok(()),
    }
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replace(text: &[u8], old: &str, new: &str, which: Which) -> Result<Replaced, NotReplaced> {
        let most = u64::MAX;
        Replacement {
            old,
            new,
            which,
            most,
        }
        .of(text, &CancellationToken::new())
    }

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
            ("aaaaaaaaaa", "a", "x", Err(NotReplaced::Several(10))),
            ("aaaaaaaaaaa", "a", "x", Err(NotReplaced::Many)),
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

    #[test]
    fn a_result_that_would_be_too_large_is_not_begun() {
        for (before, old, new, most, fits) in [
            ("aaaa", "a", "bb", 8, true),
            ("aaaa", "a", "bb", 7, false),
            ("aaaa", "aa", "b", 2, true),
            ("aaaa", "aa", "b", 1, false),
            ("aaaa", "a", "b", 3, false),
            ("a\r\nb", "a\nb", "\n\n", 4, true),
            ("a\r\nb", "a\nb", "\n\n", 3, false),
        ] {
            let which = Which::All;
            let replacement = Replacement {
                old,
                new,
                which,
                most,
            };
            let replaced = replacement.of(before.as_bytes(), &CancellationToken::new());
            match fits {
                true => assert_eq!(replaced.map(|it| it.text.len() as u64), Ok(most)),
                false => assert_eq!(replaced, Err(NotReplaced::TooLarge(most)), "{before} {old}"),
            }
        }
    }

    #[test]
    fn a_replacement_that_nobody_waits_for_ends() {
        let stop = CancellationToken::new();
        stop.cancel();
        let (old, new, which, most) = ("a", "b", Which::All, u64::MAX);

        let replaced = Replacement {
            old,
            new,
            which,
            most,
        }
        .of(b"aaaa", &stop);

        assert_eq!(replaced, Err(NotReplaced::Cancelled));
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
                Err(several @ (NotReplaced::Several(_) | NotReplaced::Many)) => {
                    prop_assert_ne!(several, NotReplaced::Several(1));
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
