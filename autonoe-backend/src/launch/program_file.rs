//! [`ProgramFile`], the identity of one build of a program.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Identifies the file of a program until it is replaced or changed, for results that are kept
/// while the program stays the same.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_backend::ProgramFile;
///
/// let shell = ProgramFile::read(Path::new("/bin/sh"));
///
/// assert!(shell.is_some());
/// assert_eq!(shell, ProgramFile::read(Path::new("/bin/sh")));
/// assert_eq!(ProgramFile::read(Path::new("/nowhere/program")), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// Time of the last change in seconds and nanoseconds.
    changed: (i64, i64),
}

impl ProgramFile {
    /// Reads the identity of the file at `path`, after symlinks; `None` if there is none.
    pub fn read(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            path: path.to_owned(),
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}
