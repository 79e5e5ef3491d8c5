//! The tool Edit: replaces a part of a file.

use std::io::Read;
use std::sync::Arc;

use autonoe_core::tool::{ToolDescription, ToolErrorCode};
use autonoe_core::{Tool, ToolError, ToolOutput};
use memchr::memmem;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::file_tool::{FileTools, cancelled, invalid, system};
use super::workspace::{ExpectedFile, Purpose};

/// Creates the tool Edit: replaces a part of a file of the workspace. By default, it must occur exactly once.
///
/// The rest of the file stays unchanged byte for byte, and so do its permissions.
pub(super) fn tool(files: &Arc<FileTools>) -> Arc<dyn Tool> {
    let description = "Replaces old_string with new_string in a file of the workspace. \
                       old_string must occur in the file exactly as given, and exactly \
                       once unless replace_all is set. Read the file first.";
    let description = ToolDescription::new("Edit", description);
    files.tool(description, FileTools::edit)
}

/// Input of Edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditInput {
    /// The file, absolute or from the root of the workspace.
    pub file_path: String,
    /// Text to replace, exactly as it is in the file, without line numbers.
    pub old_string: String,
    /// Replacement text.
    pub new_string: String,
    /// Whether it is replaced wherever it is. Otherwise it must be there once.
    #[serde(default)]
    pub replace_all: bool,
}

impl FileTools {
    fn edit(&self, input: &EditInput, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let _turn = self.workspace.lock_writes();
        if stop.is_cancelled() {
            return Err(cancelled());
        }
        let entry = self.workspace.entry(&input.file_path, Purpose::Change)?;
        let (file, stat) = entry.open()?;
        let path = entry.path.display();
        let limit = self.limits.file_bytes;
        let mut text = Vec::new();
        let read = file.take(limit + 1).read_to_end(&mut text);
        read.map_err(|error| system(format!("{:?}", entry.path), error))?;
        if text.len() as u64 > limit {
            return Err(invalid(format!("{path} has more than {limit} bytes")));
        }
        let occurrences = if input.replace_all {
            Occurrences::All
        } else {
            Occurrences::One
        };
        let replacement = Replacement {
            old: &input.old_string,
            new: &input.new_string,
            occurrences,
            most: limit,
        };
        let replaced = replacement.apply(&text, stop).map_err(|error| {
            let code = match error {
                ReplaceError::NotFound => ToolErrorCode::NOT_FOUND,
                ReplaceError::Cancelled => return cancelled(),
                _ => ToolErrorCode::VALIDATION_ERROR,
            };
            ToolError::new(code, format!("{path}: {error}"))
        })?;
        entry.write_atomic(&replaced.text, &ExpectedFile::Unchanged(stat))?;
        let (count, line) = (replaced.count, replaced.line);
        let message = match count {
            1 => format!("Edited {path} at line {line}"),
            _ => format!("Edited {path} in {count} places, from line {line} on"),
        };
        Ok(ToolOutput::new(message)
            .with_title(format!("Edited {path}"))
            .with_metadata("path", path.to_string())
            .with_metadata("replaced", count)
            .with_metadata("line", line))
    }
}

/// Maximum number of occurrences to count if only one is allowed.
const MAX_COUNTED: usize = 10;

/// Number of replacements between two checks for cancellation.
const CHECK_INTERVAL: usize = 4096;

/// Occurrences to replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrences {
    /// The only occurrence.
    One,
    /// All occurrences, from the beginning.
    All,
}

/// Requested replacement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replacement<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) occurrences: Occurrences,
    /// Maximum length of the result in bytes.
    pub(super) most: u64,
}

/// Result of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    pub(super) text: Vec<u8>,
    pub(super) count: usize,
    /// Line of the first occurrence, from 1.
    pub(super) line: usize,
}

/// Reason that nothing was replaced.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReplaceError {
    #[error("old_string is empty; use Write to create a file")]
    Nothing,
    #[error("old_string and new_string are the same")]
    Same,
    #[error(
        "old_string is not in the file; it must match exactly, including whitespace and line \
         endings"
    )]
    NotFound,
    #[error(
        "old_string is in the file {0} times; make it longer until it is unique, or set replace_all"
    )]
    Several(usize),
    #[error(
        "old_string is in the file more than {MAX_COUNTED} times; make it longer until it is \
         unique, or set replace_all"
    )]
    Many,
    #[error("the result would have more than {0} bytes")]
    TooLarge(u64),
    #[error("the call was cancelled")]
    Cancelled,
}

impl Replacement<'_> {
    /// Replaces in `text`, in time proportional to the text and not to the number of replacements.
    /// A result that would be too large is not built.
    ///
    /// Line ends of the file are kept. If `old` does not occur in a file with CR LF, the line ends
    /// of `old` and `new` are converted to CR LF.
    pub(super) fn apply(
        self,
        text: &[u8],
        stop: &CancellationToken,
    ) -> Result<Replaced, ReplaceError> {
        if self.old.is_empty() {
            return Err(ReplaceError::Nothing);
        }
        if self.old == self.new {
            return Err(ReplaceError::Same);
        }
        let finder = memmem::Finder::new(self.old);
        let Some(first) = finder.find(text) else {
            return self.with_line_ends_of(text, stop);
        };
        if self.occurrences == Occurrences::One {
            refuse_several(text, &finder, first)?;
        }
        let size = self.size(text, &finder, stop)?;
        let mut result = Vec::with_capacity(size);
        let (mut from, mut count) = (0, 0);
        for place in finder.find_iter(text) {
            check_cancelled(count, stop)?;
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
    ) -> Result<Replaced, ReplaceError> {
        if !self.old.contains('\n') || memmem::find(text, b"\r\n").is_none() {
            return Err(ReplaceError::NotFound);
        }
        let (old, new) = (with_crlf(self.old), with_crlf(self.new));
        if old == self.old {
            return Err(ReplaceError::NotFound);
        }
        let (old, new) = (&*old, &*new);
        Replacement { old, new, ..self }.apply(text, stop)
    }

    /// Returns the length of the result in bytes.
    fn size(
        &self,
        text: &[u8],
        finder: &memmem::Finder<'_>,
        stop: &CancellationToken,
    ) -> Result<usize, ReplaceError> {
        let too_large = || ReplaceError::TooLarge(self.most);
        let grows = self.new.len().saturating_sub(self.old.len());
        let shrinks = self.old.len().saturating_sub(self.new.len());
        let mut size = text.len();
        for (count, _) in finder.find_iter(text).enumerate() {
            check_cancelled(count, stop)?;
            size = (size - shrinks).checked_add(grows).ok_or_else(too_large)?;
            // The size only grows from here.
            if grows > 0 && size as u64 > self.most {
                return Err(too_large());
            }
        }
        if size as u64 > self.most {
            Err(too_large())
        } else {
            Ok(size)
        }
    }
}

/// Fails if there are further occurrences, including overlapping ones: either of two overlapping
/// occurrences may be meant.
///
/// Each occurrence costs time proportional to `old`, so they are not all counted.
fn refuse_several(
    text: &[u8],
    finder: &memmem::Finder<'_>,
    first: usize,
) -> Result<(), ReplaceError> {
    let (mut count, mut from) = (1, first + 1);
    while let Some(place) = finder.find(&text[from..]) {
        count += 1;
        from += place + 1;
        if count > MAX_COUNTED {
            return Err(ReplaceError::Many);
        }
    }
    match count {
        1 => Ok(()),
        several => Err(ReplaceError::Several(several)),
    }
}

fn check_cancelled(count: usize, stop: &CancellationToken) -> Result<(), ReplaceError> {
    if count.is_multiple_of(CHECK_INTERVAL) && stop.is_cancelled() {
        Err(ReplaceError::Cancelled)
    } else {
        Ok(())
    }
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replace(
        text: &[u8],
        old: &str,
        new: &str,
        occurrences: Occurrences,
    ) -> Result<Replaced, ReplaceError> {
        let most = u64::MAX;
        Replacement {
            old,
            new,
            occurrences,
            most,
        }
        .apply(text, &CancellationToken::new())
    }

    fn text(
        text: &str,
        old: &str,
        new: &str,
        occurrences: Occurrences,
    ) -> Result<String, ReplaceError> {
        let replaced = replace(text.as_bytes(), old, new, occurrences)?;
        Ok(String::from_utf8(replaced.text).expect("UTF-8 in, UTF-8 out"))
    }

    #[test]
    fn replaces_only_a_unique_occurrence() {
        for (before, old, new, after) in [
            ("a b c", "b", "x", Ok("a x c")),
            ("a b c", "b", "", Ok("a  c")),
            ("one", "one", "two\n", Ok("two\n")),
            ("a\tb", "a\tb", "c", Ok("c")),
            ("a b c", "d", "x", Err(ReplaceError::NotFound)),
            ("a b c", "B", "x", Err(ReplaceError::NotFound)),
            ("a b a", "a", "x", Err(ReplaceError::Several(2))),
            ("aaa", "aa", "x", Err(ReplaceError::Several(2))),
            ("aaaaaaaaaa", "a", "x", Err(ReplaceError::Several(10))),
            ("aaaaaaaaaaa", "a", "x", Err(ReplaceError::Many)),
            ("a", "a", "a", Err(ReplaceError::Same)),
            ("a", "", "x", Err(ReplaceError::Nothing)),
            ("", "a", "x", Err(ReplaceError::NotFound)),
        ] {
            let found = text(before, old, new, Occurrences::One);
            assert_eq!(found, after.map(str::to_owned), "{before:?} {old:?}");
        }
    }

    #[test]
    fn all_occurrences_are_replaced_on_request() {
        assert_eq!(
            text("a b a", "a", "aa", Occurrences::All),
            Ok("aa b aa".into())
        );
        assert_eq!(text("aaaa", "aa", "b", Occurrences::All), Ok("bb".into()));
        assert_eq!(
            text("x", "a", "b", Occurrences::All),
            Err(ReplaceError::NotFound)
        );
    }

    #[test]
    fn line_endings_of_the_file_are_preserved() {
        let found = text("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", Occurrences::One);
        assert_eq!(found, Ok("x\r\ny\r\nz\r\nc\r\n".into()));
        assert_eq!(
            text("a\r\nb", "a\r\nb", "x", Occurrences::One),
            Ok("x".to_owned())
        );
        assert_eq!(
            text("a\r\nb", "b\nc", "x", Occurrences::One),
            Err(ReplaceError::NotFound)
        );
    }

    #[test]
    fn invalid_utf8_is_preserved() {
        let replaced = replace(b"\xff\x00 a \xfe", "a", "b", Occurrences::One).expect("once");

        assert_eq!(replaced.text, b"\xff\x00 b \xfe");
    }

    #[test]
    fn a_replacement_with_a_too_large_result_is_refused() {
        for (before, old, new, most, fits) in [
            ("aaaa", "a", "bb", 8, true),
            ("aaaa", "a", "bb", 7, false),
            ("aaaa", "aa", "b", 2, true),
            ("aaaa", "aa", "b", 1, false),
            ("aaaa", "a", "b", 3, false),
            ("a\r\nb", "a\nb", "\n\n", 4, true),
            ("a\r\nb", "a\nb", "\n\n", 3, false),
        ] {
            let occurrences = Occurrences::All;
            let replacement = Replacement {
                old,
                new,
                occurrences,
                most,
            };
            let replaced = replacement.apply(before.as_bytes(), &CancellationToken::new());
            if fits {
                assert_eq!(replaced.map(|it| it.text.len() as u64), Ok(most));
            } else {
                assert_eq!(
                    replaced,
                    Err(ReplaceError::TooLarge(most)),
                    "{before} {old}"
                );
            }
        }
    }

    #[test]
    fn cancelled_replacement_stops() {
        let stop = CancellationToken::new();
        stop.cancel();
        let (old, new, occurrences, most) = ("a", "b", Occurrences::All, u64::MAX);

        let replaced = Replacement {
            old,
            new,
            occurrences,
            most,
        }
        .apply(b"aaaa", &stop);

        assert_eq!(replaced, Err(ReplaceError::Cancelled));
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

            let replaced = replace(whole.as_bytes(), &old, &new, Occurrences::One).expect("once");

            prop_assert_eq!(replaced.text, format!("{before}{new}{after}").into_bytes());
            prop_assert_eq!(replaced.line, before.matches('\n').count() + 1);
        }

        #[test]
        fn it_never_panics_and_never_replaces_one_of_several(
            whole in "[ab\r\n]{0,30}",
            old in "[ab\n]{0,4}",
            new in "[ab\n]{0,4}",
        ) {
            match replace(whole.as_bytes(), &old, &new, Occurrences::One) {
                Ok(replaced) => prop_assert_eq!(replaced.count, 1),
                Err(several @ (ReplaceError::Several(_) | ReplaceError::Many)) => {
                    prop_assert_ne!(several, ReplaceError::Several(1));
                    let all = replace(whole.as_bytes(), &old, &new, Occurrences::All).expect("several");
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
