//! Reads a file safely, whatever kind of file an agent may have put in its place.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::FileKind;

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
}
