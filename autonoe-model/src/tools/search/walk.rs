//! The files below a directory of the workspace.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use autonoe_core::ToolError;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Dir, FileType, statat};
use tokio_util::sync::CancellationToken;

use crate::tools::workspace::{Located, Purpose, kind_of, open_directory, open_regular};
use crate::tools::{ToolLimits, Workspace};

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

/// The files that say what to ignore; of two in one directory the later counts.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// As much of such a file is read.
const LIMIT: u64 = 1024 * 1024;

/// What is ignored, by directory from the root on.
///
/// The files are opened by us and not by the `ignore` crate: one that is a FIFO would hold it
/// up for ever, and a link would lead it out of the workspace.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    rules: Vec<Gitignore>,
}

impl Ignored {
    /// Adds what the files in `directory` say, which is at `path`, and returns how to take it
    /// back.
    pub(super) fn enter(&mut self, directory: BorrowedFd<'_>, path: &Path) -> usize {
        let before = self.rules.len();
        for name in FILES {
            self.add(directory, path, OsStr::new(name));
        }
        before
    }

    /// Adds what the file `name` in `directory` says about what is below `path`.
    pub(super) fn add(&mut self, directory: BorrowedFd<'_>, path: &Path, name: &OsStr) {
        let Ok((file, _)) = open_regular(directory, name, path) else {
            return;
        };
        let mut bytes = Vec::new();
        if file.take(LIMIT).read_to_end(&mut bytes).is_err() {
            return;
        }
        let mut builder = GitignoreBuilder::new(path);
        for line in String::from_utf8_lossy(&bytes).lines() {
            // Git passes over lines that it does not understand, too.
            let _ = builder.add_line(None, line);
        }
        self.rules.extend(builder.build().ok());
    }

    /// Takes back what was added since.
    pub(super) fn leave(&mut self, before: usize) {
        self.rules.truncate(before);
    }

    /// Tells whether what is at `path` is ignored: the deepest rule about it decides.
    pub(super) fn is_ignored(&self, path: &Path, is_directory: bool) -> bool {
        let rules = self.rules.iter().rev();
        let mut matches = rules.map(|rules| rules.matched(path, is_directory));
        let decided = matches.find(|found| !found.is_none());
        decided.is_some_and(|found| found.is_ignore())
    }
}

/// How far a search may go, and how far it has gone.
#[derive(Debug)]
pub(in crate::tools) struct Pace {
    stop: CancellationToken,
    until: Option<Instant>,
    most: usize,
    seen: usize,
    broke_off: Option<String>,
}

impl Pace {
    pub(in crate::tools) fn new(limits: &ToolLimits, stop: &CancellationToken) -> Self {
        Self {
            stop: stop.clone(),
            until: Instant::now().checked_add(limits.search_time),
            most: limits.entries,
            seen: 0,
            broke_off: None,
        }
    }

    /// Counts one more entry, and tells whether the search may go on.
    pub(in crate::tools) fn step(&mut self) -> bool {
        self.seen += 1;
        if self.seen > self.most {
            let most = self.most;
            self.broke_off = Some(format!(
                "the search ended after {most} files and directories"
            ));
        }
        self.goes_on()
    }

    /// Tells whether the search may go on.
    pub(in crate::tools) fn goes_on(&mut self) -> bool {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            self.broke_off = Some("the search took too long and was ended".to_owned());
        }
        self.broke_off.is_none() && !self.stop.is_cancelled()
    }

    /// Tells whether nobody waits for the search any more.
    pub(in crate::tools) fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns why the search did not come to its end, if it did not.
    pub(in crate::tools) fn broke_off(&self) -> Option<&str> {
        self.broke_off.as_deref()
    }
}

/// A file that is read no longer than the search may go on.
#[derive(Debug)]
pub(in crate::tools) struct Paced<'a, R> {
    pub(in crate::tools) file: R,
    pub(in crate::tools) pace: &'a mut Pace,
}

impl<R: Read> Read for Paced<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.pace.goes_on() {
            true => self.file.read(buffer),
            false => Err(io::Error::other("the search is over")),
        }
    }
}
