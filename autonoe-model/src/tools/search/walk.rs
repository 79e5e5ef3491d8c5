//! The files below a directory of the workspace.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use autonoe_core::ToolError;
use rustix::fs::{AtFlags, Dir, FileType, statat};

use super::Pace;
use super::ignored::Ignored;
use crate::tools::Workspace;
use crate::tools::workspace::{Located, Purpose, kind_of, open_directory};

/// How deep directories are gone into: as many are open at once.
const DEPTH: usize = 128;

/// A file that was found, in a directory that is open.
#[derive(Debug)]
pub(in crate::tools) struct Found<'a> {
    pub(in crate::tools) directory: BorrowedFd<'a>,
    pub(in crate::tools) name: &'a OsStr,
    /// The path from the root of the workspace.
    pub(in crate::tools) path: &'a Path,
}

/// A walk through the files below a directory, in the order of their names.
///
/// Links are not followed, `.git` is not gone into, and what git ignores is passed over.
/// Directories are opened from the one that they are in, so that nobody can lead the walk
/// out of the workspace.
pub(in crate::tools) struct Walk<'a, V> {
    workspace: &'a Workspace,
    ignored: Ignored,
    pace: &'a mut Pace,
    visit: V,
    depth: usize,
}

impl<'a, V> Walk<'a, V>
where
    V: FnMut(&Found<'_>, &mut Pace) -> ControlFlow<()>,
{
    pub(in crate::tools) fn new(workspace: &'a Workspace, pace: &'a mut Pace, visit: V) -> Self {
        Self {
            workspace,
            ignored: Ignored::default(),
            pace,
            visit,
            depth: 0,
        }
    }

    /// Visits the files below the directory `start`, until there are no more or one says so.
    pub(in crate::tools) fn run(mut self, start: &Located) -> Result<(), ToolError> {
        let directory = self.workspace.directory_at(start)?;
        self.learn_what_is_ignored_above(start.path());
        let _ = self.enter(directory.as_fd(), start.path());
        Ok(())
    }

    /// Reads the rules from the root down to the directory that holds `start`.
    fn learn_what_is_ignored_above(&mut self, start: &Path) {
        let root = self.workspace.root();
        let excluded = self.workspace.entry(".git/info/exclude", Purpose::Look);
        if let Ok(entry) = excluded {
            let parent = entry.parent.as_fd();
            self.ignored.add(parent, root, &entry.name);
        }
        let mut above: Vec<_> = start.ancestors().skip(1).collect();
        above.reverse();
        for path in above {
            let located = match path.to_str() {
                Some("") => Ok(Located::Root),
                Some(text) => self.workspace.locate(text, Purpose::Look),
                None => continue,
            };
            let directory = located.and_then(|located| self.workspace.directory_at(&located));
            if let Ok(directory) = directory {
                self.ignored.enter(directory.as_fd(), &root.join(path));
            }
        }
    }

    fn enter(&mut self, directory: BorrowedFd<'_>, path: &Path) -> ControlFlow<()> {
        let real = self.workspace.root().join(path);
        let rules = self.ignored.enter(directory, &real);
        self.depth += 1;
        let flow = names_in(directory)
            .into_iter()
            .try_for_each(|(name, kind)| self.meet(directory, &name, kind, path));
        self.depth -= 1;
        self.ignored.leave(rules);
        flow
    }

    fn meet(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &OsStr,
        kind: FileType,
        inside: &Path,
    ) -> ControlFlow<()> {
        if !self.pace.step() {
            return ControlFlow::Break(());
        }
        let at_root = inside.as_os_str().is_empty();
        if name == ".git" || at_root && self.workspace.hidden_names().contains(name) {
            return ControlFlow::Continue(());
        }
        let kind = match kind {
            // Some file systems do not say it in the list.
            FileType::Unknown => match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => kind_of(&stat),
                Err(_) => return ControlFlow::Continue(()),
            },
            kind => kind,
        };
        let path: PathBuf = inside.join(name);
        let real = self.workspace.root().join(&path);
        if self.ignored.is_ignored(&real, kind == FileType::Directory) {
            return ControlFlow::Continue(());
        }
        match kind {
            FileType::RegularFile => {
                let found = Found {
                    directory,
                    name,
                    path: &path,
                };
                (self.visit)(&found, self.pace)
            }
            FileType::Directory if self.depth < DEPTH => match open_directory(directory, name) {
                Ok(opened) => self.enter(opened.as_fd(), &path),
                // It is gone, or not ours to look into.
                Err(_) => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Lists a directory in the order of the names.
fn names_in(directory: BorrowedFd<'_>) -> Vec<(OsString, FileType)> {
    let entries = Dir::read_from(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| {
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            (name, entry.file_type())
        })
        .filter(|(name, _)| name != "." && name != "..")
        .collect();
    names.sort_by(|(one, _), (other, _)| one.cmp(other));
    names
}
