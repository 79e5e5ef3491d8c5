//! [`FileKind`], the kind of a file for error messages.

use std::fmt;
use std::fs::FileType;

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

    /// Returns a clause that names the kind, and says that it is not `wanted`.
    pub(super) fn instead_of(self, wanted: &str) -> String {
        match self {
            // A symlink to the wanted kind would be accepted.
            Self::BrokenSymlink => self.to_string(),
            _ => format!("{self} and not {wanted}"),
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
