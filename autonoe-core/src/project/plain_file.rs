//! Reads a file that somebody may have replaced by anything.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::FileKind;

/// Why a file could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is a folder, a pipe or the like, or a symlink to one or to nothing.
    NotAFile(FileKind),
    /// It is larger than it may be.
    TooLarge,
    /// The system refused.
    Refused(io::Error),
}

/// Returns what the file at `path` holds, or `None` if there is nothing at all.
///
/// It neither waits for the other end of a pipe nor fills the memory with a
/// file larger than `largest` bytes. A symlink is followed; one that leads
/// nowhere is there, and somebody relies on it.
pub(super) fn read_plain_file(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, Unread> {
    let Some(file) = open_plain_file(path, largest)? else {
        return Ok(None);
    };
    let length = file.metadata().map_err(Unread::Refused)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(largest)).unwrap_or_default());
    // Some files of the system say that they are empty, and others grow.
    file.take(largest.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(Unread::Refused)?;
    if bytes.len() as u64 > largest {
        return Err(Unread::TooLarge);
    }
    Ok(Some(bytes))
}

/// Opens the file at `path`, or returns `None` if there is nothing at all; otherwise as [`read_plain_file`].
pub(super) fn open_plain_file(path: &Path, largest: u64) -> Result<Option<File>, Unread> {
    // Looked at before it is opened: to open a pipe is to wait for its writer.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(Unread::NotAFile(FileKind::of(found.file_type()))),
        Ok(found) if found.len() > largest => Err(Unread::TooLarge),
        Ok(_) => File::open(path).map(Some).map_err(Unread::Refused),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.is_symlink() {
            true => Err(Unread::NotAFile(FileKind::BrokenSymlink)),
            false => Ok(None),
        },
        Err(error) => Err(Unread::Refused(error)),
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
        let read = read_plain_file(&path, 4);
        let refused = read_plain_file(&path, 3);

        assert_eq!(read.expect("it fits"), Some(b"1234".to_vec()));
        assert!(matches!(refused, Err(Unread::TooLarge)), "{refused:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_does_not_tell_its_size_is_not_read_without_end() {
        // It says that its length is 0.
        let refused = read_plain_file(Path::new("/proc/self/maps"), 3);

        assert!(matches!(refused, Err(Unread::TooLarge)), "{refused:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_an_end_is_no_file() {
        let refused = read_plain_file(Path::new("/dev/zero"), 3);

        let is_told = matches!(refused, Err(Unread::NotAFile(FileKind::Device)));
        assert!(is_told, "{refused:?}");
    }

    #[test]
    fn nothing_is_none_and_no_error() {
        let dir = tempfile::tempdir().expect("a folder");

        let read = read_plain_file(&dir.path().join("gone"), 3);

        assert_eq!(read.expect("nothing to be wrong"), None);
    }
}
