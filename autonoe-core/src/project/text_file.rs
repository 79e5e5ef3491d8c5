//! Reads text files that people write.

use std::io;
use std::path::{Path, PathBuf};

use super::FileKind;
use super::safe_read::{ReadError, read_file};

/// Returns the text of the file at `path`, or `None` if there is nothing at all.
///
/// It neither blocks on a pipe nor reads a device, nor a file of more than `largest` bytes. A byte
/// order mark is removed.
///
/// ```
/// use autonoe_core::project::{FileKind, TextFileError, read_text_file};
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
/// There is something that is not a file, is too large, is not UTF-8, or cannot be read.
pub fn read_text_file(path: &Path, largest: u64) -> Result<Option<String>, TextFileError> {
    let bytes = read_file(path, largest).map_err(|unread| {
        let path = path.to_owned();
        match unread {
            ReadError::NotAFile(found) => TextFileError::NotAFile { path, found },
            ReadError::TooLarge => TextFileError::TooLarge { path, largest },
            ReadError::Refused(source) => TextFileError::Refused { path, source },
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

/// The byte order mark that some editors write at the start of a UTF-8 text.
const MARK: char = '\u{feff}';

/// Returns `bytes` without the byte order mark of UTF-8.
pub(super) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The reason why a file could not be read as a text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextFileError {
    /// There is something other than a file, or a symlink to something else.
    #[error("{path:?} is {}; put a file in its place", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of the file at the path.
        found: FileKind,
    },
    /// The file is larger than the limit.
    #[error("{path:?} is larger than {}; shorten it", size(*.largest))]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// The limit in bytes.
        largest: u64,
    },
    /// The file is not a UTF-8 text.
    #[error("{path:?} is not UTF-8 from line {line} on; save it as UTF-8")]
    NotUtf8 {
        /// The path.
        path: PathBuf,
        /// The first line that is not UTF-8, from 1.
        line: usize,
    },
    /// The system refused access.
    #[error("{path:?} cannot be read; check its owner and permissions")]
    Refused {
        /// The path.
        path: PathBuf,
        /// The error of the system.
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
    fn the_error_of_a_file_that_is_not_utf_8_has_its_first_wrong_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, b"one\ntwo \xff\n").expect("writable");

        let error = read_text_file(&path, 1024).expect_err("no text");

        let expected = format!("{path:?} is not UTF-8 from line 2 on; save it as UTF-8");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn only_a_mark_at_the_beginning_is_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, "\u{feff}a\u{feff}").expect("writable");

        let text = read_text_file(&path, 1024).expect("a text");

        assert_eq!(text.as_deref(), Some("a\u{feff}"));
        assert_eq!(without_bom("\u{feff}a".as_bytes()), b"a");
    }

    #[test]
    fn sizes_are_formatted_for_people() {
        assert_eq!(size(16 * 1024 * 1024), "16 MiB");
        assert_eq!(size(1000), "1000 bytes");
    }
}
