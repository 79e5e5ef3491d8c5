//! [`Walk`]: directory walk shared by Glob and Grep, without files that git ignores.

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

use crate::tools::config::ToolLimits;
use crate::tools::workspace::ToolWorkspace;
use crate::tools::workspace::{Located, Purpose, kind_of, open_directory, open_regular};

/// Maximum depth of directories, and number of directories that are open at once.
const MAX_DEPTH: usize = 128;

/// A file in an open directory.
#[derive(Debug)]
pub(in crate::tools) struct FoundFile<'a> {
    pub(in crate::tools) directory: BorrowedFd<'a>,
    pub(in crate::tools) name: &'a OsStr,
    /// Path relative to the root of the workspace.
    pub(in crate::tools) path: &'a Path,
}

/// Walks the files below a directory, in the order of their names.
///
/// Links are not followed, `.git` is skipped, and so are files that git ignores. Directories are
/// opened relative to their parent, so a concurrent change cannot lead the walk out of the
/// workspace.
pub(in crate::tools) struct Walk<'a, V> {
    workspace: &'a ToolWorkspace,
    ignored: Ignored,
    budget: &'a mut SearchBudget,
    visit: V,
    depth: usize,
}

impl<'a, V> Walk<'a, V>
where
    V: FnMut(&FoundFile<'_>, &mut SearchBudget) -> ControlFlow<()>,
{
    pub(in crate::tools) fn new(
        workspace: &'a ToolWorkspace,
        budget: &'a mut SearchBudget,
        visit: V,
    ) -> Self {
        Self {
            workspace,
            ignored: Ignored::default(),
            budget,
            visit,
            depth: 0,
        }
    }

    /// Visits the files below the directory `start`, until the end or until the visitor breaks.
    pub(in crate::tools) fn run(mut self, start: &Located) -> Result<(), ToolError> {
        let directory = self.workspace.directory_at(start)?;
        self.load_parent_rules(start.path());
        let _ = self.enter(directory.as_fd(), start.path());
        Ok(())
    }

    /// Reads the ignore rules from the root down to the parent of `start`.
    fn load_parent_rules(&mut self, start: &Path) {
        let root = self.workspace.root();
        let excluded = self.workspace.entry(".git/info/exclude", Purpose::Read);
        if let Ok(entry) = excluded {
            let parent = entry.parent.as_fd();
            self.ignored.add(parent, root, &entry.name);
        }
        let mut above: Vec<_> = start.ancestors().skip(1).collect();
        above.reverse();
        for path in above {
            let located = match path.to_str() {
                Some("") => Ok(Located::Root),
                Some(text) => self.workspace.locate(text, Purpose::Read),
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
            .try_for_each(|(name, kind)| self.visit_entry(directory, &name, kind, path));
        self.depth -= 1;
        self.ignored.leave(rules);
        flow
    }

    fn visit_entry(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &OsStr,
        kind: FileType,
        inside: &Path,
    ) -> ControlFlow<()> {
        if !self.budget.step() {
            return ControlFlow::Break(());
        }
        let at_root = inside.as_os_str().is_empty();
        if name == ".git" || at_root && self.workspace.hidden.contains(name) {
            return ControlFlow::Continue(());
        }
        let kind = match kind {
            // Some file systems do not report the type in directory listings.
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
                let found = FoundFile {
                    directory,
                    name,
                    path: &path,
                };
                (self.visit)(&found, self.budget)
            }
            FileType::Directory if self.depth < MAX_DEPTH => {
                match open_directory(directory, name) {
                    Ok(opened) => self.enter(opened.as_fd(), &path),
                    // The directory is gone, or not readable.
                    Err(_) => ControlFlow::Continue(()),
                }
            }
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

/// Files with ignore rules. Of two in one directory, the later one wins.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Maximum number of bytes to read of such a file.
const MAX_RULE_BYTES: u64 = 1024 * 1024;

/// Ignore rules, by directory from the root downwards.
///
/// The files are opened here and not by the `ignore` crate: a FIFO would block it forever, and a
/// link would lead it out of the workspace.
#[derive(Debug, Default)]
struct Ignored {
    rules: Vec<Gitignore>,
}

impl Ignored {
    /// Adds the rules of `directory`, which is at `path`. Returns the value for
    /// [`leave`](Self::leave).
    fn enter(&mut self, directory: BorrowedFd<'_>, path: &Path) -> usize {
        let before = self.rules.len();
        for name in FILES {
            self.add(directory, path, OsStr::new(name));
        }
        before
    }

    /// Adds the rules of the file `name` in `directory` for everything below `path`.
    fn add(&mut self, directory: BorrowedFd<'_>, path: &Path, name: &OsStr) {
        let Ok((file, _)) = open_regular(directory, name, path) else {
            return;
        };
        let mut bytes = Vec::new();
        if file.take(MAX_RULE_BYTES).read_to_end(&mut bytes).is_err() {
            return;
        }
        let mut builder = GitignoreBuilder::new(path);
        for line in String::from_utf8_lossy(&bytes).lines() {
            // Git ignores invalid lines, too.
            let _ = builder.add_line(None, line);
        }
        self.rules.extend(builder.build().ok());
    }

    /// Removes the rules that were added since `before`.
    fn leave(&mut self, before: usize) {
        self.rules.truncate(before);
    }

    /// Returns whether `path` is ignored. The deepest matching rule decides.
    fn is_ignored(&self, path: &Path, is_directory: bool) -> bool {
        let rules = self.rules.iter().rev();
        let mut matches = rules.map(|rules| rules.matched(path, is_directory));
        let decided = matches.find(|found| !found.is_none());
        decided.is_some_and(|found| found.is_ignore())
    }
}

/// Limits and progress of a search.
#[derive(Debug)]
pub(in crate::tools) struct SearchBudget {
    stop: CancellationToken,
    until: Option<Instant>,
    max_entries: usize,
    entries: usize,
    stop_reason: Option<String>,
}

impl SearchBudget {
    pub(in crate::tools) fn new(limits: &ToolLimits, stop: &CancellationToken) -> Self {
        Self {
            stop: stop.clone(),
            until: Instant::now().checked_add(limits.search_time),
            max_entries: limits.entries,
            entries: 0,
            stop_reason: None,
        }
    }

    /// Counts one entry. Returns whether the search may continue.
    pub(in crate::tools) fn step(&mut self) -> bool {
        self.entries += 1;
        if self.entries > self.max_entries {
            let max_entries = self.max_entries;
            self.stop_reason = Some(format!(
                "the search ended after {max_entries} files and directories"
            ));
        }
        self.may_continue()
    }

    /// Returns whether the search may continue.
    pub(in crate::tools) fn may_continue(&mut self) -> bool {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            self.stop_reason = Some("the search took too long and was stopped".to_owned());
        }
        self.stop_reason.is_none() && !self.stop.is_cancelled()
    }

    /// Returns whether the search was cancelled.
    pub(in crate::tools) fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns the reason that the search is incomplete, if it is.
    pub(in crate::tools) fn incomplete_reason(&self) -> Option<&str> {
        self.stop_reason.as_deref()
    }
}

/// Reader that fails when the search must end.
#[derive(Debug)]
pub(in crate::tools) struct BudgetedReader<'a, R> {
    pub(in crate::tools) file: R,
    pub(in crate::tools) budget: &'a mut SearchBudget,
}

impl<R: Read> Read for BudgetedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.budget.may_continue() {
            self.file.read(buffer)
        } else {
            Err(io::Error::other("the search is over"))
        }
    }
}
