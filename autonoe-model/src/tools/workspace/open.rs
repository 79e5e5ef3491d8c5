//! Safe opening of regular files and directories.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use autonoe_core::ToolError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;

use super::{Entry, Located, ToolWorkspace};
use crate::tools::failure::{invalid, not_found, system};

/// Opens the regular file `name` in `parent` for reading.
///
/// A FIFO would block the reader until a writer comes, and opening a device may have effects. Both
/// are rejected before they are opened, and opening never blocks if one appears meanwhile.
pub(in crate::tools) fn open_regular(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    shown: &Path,
) -> Result<(File, Stat), ToolError> {
    let failed = |error| match error {
        Errno::NOENT => not_found(format!("there is no {shown:?}")),
        Errno::LOOP => changed(shown),
        error => system(format!("{shown:?}"), error),
    };
    let before = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    refuse_irregular(&before, shown)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(parent, name, flags, Mode::empty()).map_err(failed)?;
    let opened = fstat(&file).map_err(failed)?;
    if same_file(&before, &opened) {
        Ok((File::from(file), opened))
    } else {
        Err(changed(shown))
    }
}

fn changed(shown: &Path) -> ToolError {
    invalid(format!(
        "{shown:?} was changed in the meantime; read it again"
    ))
}

pub(in crate::tools) fn refuse_irregular(stat: &Stat, shown: &Path) -> Result<(), ToolError> {
    let is = match kind_of(stat) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a directory",
        FileType::Symlink => return Err(changed(shown)),
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    };
    Err(invalid(format!("{shown:?} is {is}, not a regular file")))
}

pub(in crate::tools) fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Returns whether both belong to the same file.
pub(in crate::tools) fn same_file(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino) && kind_of(one) == kind_of(other)
}

/// Opens the directory `name` in `parent`, for listing it and opening its entries.
pub(in crate::tools) fn open_directory(
    parent: BorrowedFd<'_>,
    name: &OsStr,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

impl Entry {
    /// Opens the file for reading.
    pub(in crate::tools) fn open(&self) -> Result<(File, Stat), ToolError> {
        use std::os::fd::AsFd;
        open_regular(self.parent.as_fd(), &self.name, &self.path)
    }

    /// Returns the current metadata; `None` if nothing exists.
    pub(in crate::tools) fn stat(&self) -> Result<Option<Stat>, ToolError> {
        match statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(system(format!("{:?}", self.path), error)),
        }
    }
}

impl ToolWorkspace {
    /// Opens the directory `located`.
    pub(in crate::tools) fn directory_at(&self, located: &Located) -> Result<OwnedFd, ToolError> {
        use std::os::fd::AsFd;
        let opened = match located {
            Located::Root => open_directory(self.directory.as_fd(), OsStr::new(".")),
            Located::Entry(entry) => open_directory(entry.parent.as_fd(), &entry.name),
        };
        let path = located.path();
        opened.map_err(|error| match error {
            Errno::NOENT => not_found(format!("there is no {path:?}")),
            error => system(format!("{path:?}"), error),
        })
    }
}
