//! What stands at a path.

use std::fmt;
use std::fs::FileType;

/// What stands at a path, for people who expect something else there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A file with bytes in it.
    File,
    /// A folder.
    Folder,
    /// A symlink, where none is followed.
    Symlink,
    /// A symlink to something that is not there.
    BrokenSymlink,
    /// A named pipe; to open it is to wait for its other end.
    Pipe,
    /// A socket.
    Socket,
    /// A device, whose bytes may have no end.
    Device,
    /// Something else.
    Other,
}

impl FileKind {
    pub(super) fn of(found: FileType) -> Self {
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

    /// Says what stands there, and that it is not what is `wanted`.
    pub(super) fn instead_of(self, wanted: &str) -> String {
        match self {
            // One that leads to what is wanted would do.
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
