//! Texts that people write into files.

use std::io;
use std::path::{Path, PathBuf};

use super::FileKind;
use super::plain_file::{Unread, read_plain_file};

/// Returns the text in the file at `path`, or `None` if there is nothing at all.
///
/// It neither waits for the other end of a pipe nor reads a device, nor a file
/// of more than `largest` bytes. The mark that some editors put before UTF-8 is
/// left out.
///
/// ```
/// use autonoe_core::{FileKind, TextFileError, read_text_file};
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("script.json");
/// assert_eq!(read_text_file(&path, 1024)?, None);
///
/// std::fs::write(&path, "\u{feff}{}")?;
/// assert_eq!(read_text_file(&path, 1024)?.as_deref(), Some("{}"));
///
/// let error = read_text_file(dir.path(), 1024).expect_err("a folder");
/// assert!(matches!(error, TextFileError::NotAFile { found: FileKind::Folder, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// There is something that is no file, is too large, is not UTF-8, or cannot be
/// read.
pub fn read_text_file(path: &Path, largest: u64) -> Result<Option<String>, TextFileError> {
    let bytes = read_plain_file(path, largest).map_err(|unread| {
        let path = path.to_owned();
        match unread {
            Unread::NotAFile(found) => TextFileError::NotAFile { path, found },
            Unread::TooLarge => TextFileError::TooLarge { path, largest },
            Unread::Refused(source) => TextFileError::Refused { path, source },
        }
    })?;
    let Some(bytes) = bytes else {
        return Ok(None);
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(match text.strip_prefix(MARK) {
            Some(rest) => rest.to_owned(),
            None => text,
        })),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            Err(TextFileError::NotUtf8 {
                path: path.to_owned(),
                line: valid.iter().filter(|byte| **byte == b'\n').count() + 1,
            })
        }
    }
}

/// What some editors put before a text in UTF-8.
const MARK: char = '\u{feff}';

/// Returns `bytes` without the mark that some editors put before UTF-8.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Why a file could not be read as a text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextFileError {
    /// Something else stands there, or a symlink leads to something else.
    #[error("{path:?} is {}; put a file in its place", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What stands there.
        found: FileKind,
    },
    /// There is more in it than is read.
    #[error("{path:?} is larger than {}; shorten it", size(*.largest))]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// How many bytes are read at most.
        largest: u64,
    },
    /// It is no text.
    #[error("{path:?} is not UTF-8 from line {line} on; save it as UTF-8")]
    NotUtf8 {
        /// The path.
        path: PathBuf,
        /// The first line that is no text, from 1.
        line: usize,
    },
    /// The system refused.
    #[error("{path:?} cannot be read; check its owner and permissions")]
    Refused {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn size(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match (bytes / MIB, bytes % MIB) {
        (mebibytes, 0) => format!("{mebibytes} MiB"),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_with_its_first_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, b"one\ntwo \xff\n").expect("writable");

        let error = read_text_file(&path, 1024).expect_err("no text");

        let told = format!("{path:?} is not UTF-8 from line 2 on; save it as UTF-8");
        assert_eq!(error.to_string(), told);
    }

    #[test]
    fn only_a_mark_at_the_beginning_is_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, "\u{feff}a\u{feff}").expect("writable");

        let text = read_text_file(&path, 1024).expect("a text");

        assert_eq!(text.as_deref(), Some("a\u{feff}"));
        assert_eq!(without_mark("\u{feff}a".as_bytes()), b"a");
    }

    #[test]
    fn sizes_are_told_as_people_say_them() {
        assert_eq!(size(16 * 1024 * 1024), "16 MiB");
        assert_eq!(size(1000), "1000 bytes");
    }
}
