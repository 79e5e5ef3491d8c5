//! Safe reads of files, whatever kind of file an agent may have put in their place.

use std::fmt;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The reason why a file was not read.
#[derive(Debug)]
pub(super) enum ReadError {
    /// It is a folder, a pipe or the like, or a symlink to one or to nothing.
    NotAFile(FileKind),
    /// It is larger than the limit.
    TooLarge,
    /// The system refused access.
    Refused(io::Error),
}

/// Returns the content of the file at `path`, or `None` if there is nothing at all.
///
/// It neither blocks on a pipe nor fills the memory with a file larger than `largest` bytes. A
/// symlink is followed. A broken symlink is an error, because its owner relies on it.
pub(super) fn read_file(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, ReadError> {
    let Some(file) = open_file(path, largest)? else {
        return Ok(None);
    };
    let length = file.metadata().map_err(ReadError::Refused)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(largest)).unwrap_or_default());
    // Some system files report a size of zero, and other files grow.
    file.take(largest.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(ReadError::Refused)?;
    if bytes.len() as u64 > largest {
        return Err(ReadError::TooLarge);
    }
    Ok(Some(bytes))
}

/// Opens the file at `path`, or returns `None` if there is nothing at all; otherwise as
/// [`read_file`].
pub(super) fn open_file(path: &Path, largest: u64) -> Result<Option<File>, ReadError> {
    // Checked before opening, because opening a pipe blocks until it has a writer.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(ReadError::NotAFile(FileKind::from_file_type(
            found.file_type(),
        ))),
        Ok(found) if found.len() > largest => Err(ReadError::TooLarge),
        Ok(_) => File::open(path).map(Some).map_err(ReadError::Refused),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.is_symlink() {
                Err(ReadError::NotAFile(FileKind::BrokenSymlink))
            } else {
                Ok(None)
            }
        }
        Err(error) => Err(ReadError::Refused(error)),
    }
}

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

/// The kind of a file, for error messages about an unexpected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink, where symlinks are not followed.
    Symlink,
    /// A symlink to a missing target.
    BrokenSymlink,
    /// A named pipe; opening it blocks until its other end is open.
    Pipe,
    /// A socket.
    Socket,
    /// A device, which may have no end.
    Device,
    /// Something else.
    Other,
}

impl FileKind {
    pub(super) fn from_file_type(found: FileType) -> Self {
        if found.is_file() {
            Self::File
        } else if found.is_dir() {
            Self::Folder
        } else if found.is_symlink() {
            Self::Symlink
        } else {
            special(found)
        }
    }

    /// Returns a clause that names the kind, and says that it is not `expected`.
    pub(super) fn instead_of(self, expected: &str) -> String {
        match self {
            // A symlink to the wanted kind would be accepted.
            Self::BrokenSymlink => self.to_string(),
            _ => format!("{self} and not {expected}"),
        }
    }
}

#[cfg(unix)]
fn special(found: FileType) -> FileKind {
    use std::os::unix::fs::FileTypeExt;

    if found.is_fifo() {
        FileKind::Pipe
    } else if found.is_socket() {
        FileKind::Socket
    } else if found.is_char_device() || found.is_block_device() {
        FileKind::Device
    } else {
        FileKind::Other
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> FileKind {
    FileKind::Other
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Symlink => "a symlink",
            Self::BrokenSymlink => "a symlink that leads nowhere",
            Self::Pipe => "a pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "something else",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_largest_size_is_read_and_one_byte_more_is_too_large() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");

        fs::write(&path, "1234").expect("writable");
        let read = read_file(&path, 4);
        let refused = read_file(&path, 3);

        assert_eq!(read.expect("it fits"), Some(b"1234".to_vec()));
        assert!(matches!(refused, Err(ReadError::TooLarge)), "{refused:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_does_not_report_its_size_is_not_read_without_end() {
        // It reports a length of 0.
        let refused = read_file(Path::new("/proc/self/maps"), 3);

        assert!(matches!(refused, Err(ReadError::TooLarge)), "{refused:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_an_end_is_no_file() {
        let refused = read_file(Path::new("/dev/zero"), 3);

        let is_device = matches!(refused, Err(ReadError::NotAFile(FileKind::Device)));
        assert!(is_device, "{refused:?}");
    }

    #[test]
    fn nothing_is_none_and_no_error() {
        let dir = tempfile::tempdir().expect("a folder");

        let read = read_file(&dir.path().join("gone"), 3);

        assert_eq!(read.expect("nothing to be wrong"), None);
    }

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
    fn only_a_leading_byte_order_mark_is_removed() {
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
