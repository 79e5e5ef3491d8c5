//! Path resolution that cannot leave the workspace.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use autonoe_core::ToolError;
use autonoe_core::gate::ProjectPaths;
use rustix::fs::{Mode, OFlags, mkdirat, openat, readlinkat};
use rustix::io::Errno;

use super::ToolWorkspace;
use crate::tools::file_tool::{denied, invalid, not_found, system};

/// Maximum number of links in a path, equal to the system's limit.
const MAX_LINKS: usize = 40;

/// Flags to open a directory for traversal only.
#[cfg(target_os = "linux")]
const TRAVERSE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const TRAVERSE: OFlags = OFlags::RDONLY;

/// Purpose of a path resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Purpose {
    /// Read access.
    Read,
    /// Change of an existing entry.
    Change,
    /// Write access. Missing directories are created.
    Create,
}

/// Target of a path.
#[derive(Debug)]
pub(in crate::tools) enum Located {
    /// Root of the workspace.
    Root,
    /// Entry of a directory in the workspace, which need not exist.
    Entry(Entry),
}

/// Entry of a directory in the workspace. It was not a link when it was resolved.
#[derive(Debug)]
pub(in crate::tools) struct Entry {
    pub(in crate::tools) parent: OwnedFd,
    pub(in crate::tools) name: OsString,
    /// Path relative to the root, without links.
    pub(in crate::tools) path: PathBuf,
}

impl Located {
    /// Returns the path relative to the root, without links; empty for the root.
    pub(in crate::tools) fn path(&self) -> &Path {
        match self {
            Self::Root => Path::new(""),
            Self::Entry(entry) => &entry.path,
        }
    }
}

impl ToolWorkspace {
    /// Resolves `path`.
    pub(in crate::tools) fn locate(
        &self,
        path: &str,
        purpose: Purpose,
    ) -> Result<Located, ToolError> {
        if path.is_empty() || path.contains('\0') {
            return Err(invalid(format!("{path:?} is not a path")));
        }
        Follow {
            workspace: self,
            text: path,
            purpose,
            left: self.parts(Path::new(path)).ok_or_else(|| outside(path))?,
            stack: Vec::new(),
            links: 0,
        }
        .run()
    }

    /// Resolves `path` to an entry. The root is not one.
    pub(in crate::tools) fn entry(&self, path: &str, purpose: Purpose) -> Result<Entry, ToolError> {
        match self.locate(path, purpose)? {
            Located::Entry(entry) => Ok(entry),
            Located::Root => Err(invalid(format!("{path:?} is a directory"))),
        }
    }

    /// Returns the components of `path` relative to the root; `None` if it starts elsewhere.
    fn parts(&self, path: &Path) -> Option<VecDeque<OsString>> {
        let relative = if path.is_absolute() {
            [&self.root]
                .into_iter()
                .chain(&self.aliases)
                .find_map(|root| path.strip_prefix(root).ok())?
        } else {
            path
        };
        let part = |part: Component<'_>| part.as_os_str().to_owned();
        Some(relative.components().map(part).collect())
    }
}

/// Path resolution in progress.
struct Follow<'a> {
    workspace: &'a ToolWorkspace,
    text: &'a str,
    purpose: Purpose,
    left: VecDeque<OsString>,
    /// Open directories from the root to the current one.
    stack: Vec<(OsString, OwnedFd)>,
    links: usize,
}

impl Follow<'_> {
    fn run(mut self) -> Result<Located, ToolError> {
        while let Some(part) = self.left.pop_front() {
            if part == "." {
                continue;
            }
            if part == ".." {
                self.stack.pop().ok_or_else(|| outside(self.text))?;
                continue;
            }
            self.refuse_guarded(&part)?;
            if self.follow_link(&part)? {
                continue;
            }
            // Only dots follow: this is the target of the path, if it is a directory.
            if self.left.is_empty() {
                return self.entry(part);
            }
            self.step_into(part)?;
        }
        match self.stack.pop() {
            None => Ok(Located::Root),
            Some((name, _)) => self.entry(name),
        }
    }

    fn current_directory(&self) -> BorrowedFd<'_> {
        match self.stack.last() {
            Some((_, directory)) => directory.as_fd(),
            None => self.workspace.directory.as_fd(),
        }
    }

    /// Rejects entries of the root that are hidden, or read-only for a write access.
    fn refuse_guarded(&self, part: &OsStr) -> Result<(), ToolError> {
        let ToolWorkspace {
            hidden, read_only, ..
        } = self.workspace;
        if self.stack.is_empty() && hidden.contains(part) {
            return Err(not_found(format!("there is no {:?}", self.text)));
        }
        if self.stack.is_empty() && read_only.contains(part) && self.purpose != Purpose::Read {
            return Err(denied(format!("{:?} is read-only here", self.text)));
        }
        Ok(())
    }

    /// Prepends the target of the link `part` to the remaining components; `false` if it is not a
    /// link.
    fn follow_link(&mut self, part: &OsStr) -> Result<bool, ToolError> {
        let target = match readlinkat(self.current_directory(), part, Vec::new()) {
            Ok(target) => PathBuf::from(OsString::from_vec(target.into_bytes())),
            Err(Errno::INVAL | Errno::NOENT) => return Ok(false),
            Err(error) => return Err(self.failed(error)),
        };
        self.count_link()?;
        if target.is_absolute() {
            self.stack.clear();
        }
        let parts = self
            .workspace
            .parts(&target)
            .ok_or_else(|| outside(self.text))?;
        for part in parts.into_iter().rev() {
            self.left.push_front(part);
        }
        Ok(true)
    }

    fn count_link(&mut self) -> Result<(), ToolError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            Err(invalid(format!("{:?} has too many symlinks", self.text)))
        } else {
            Ok(())
        }
    }

    fn step_into(&mut self, part: OsString) -> Result<(), ToolError> {
        let flags = TRAVERSE | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(self.current_directory(), &part, flags, Mode::empty()) {
            Ok(directory) => self.stack.push((part, directory)),
            Err(Errno::NOENT) if self.purpose == Purpose::Create => {
                match mkdirat(self.current_directory(), &part, Mode::from_raw_mode(0o777)) {
                    // Another process may have created it meanwhile.
                    Ok(()) | Err(Errno::EXIST) => {
                        self.count_link()?;
                        self.left.push_front(part);
                    }
                    Err(error) => return Err(self.failed(error)),
                }
            }
            // It was replaced by a link meanwhile, or it is a file.
            Err(Errno::LOOP | Errno::NOTDIR) if self.follow_link(&part)? => {}
            Err(error) => return Err(self.failed(error)),
        }
        Ok(())
    }

    fn entry(self, name: OsString) -> Result<Located, ToolError> {
        let mut path: PathBuf = self.stack.iter().map(|(name, _)| name).collect();
        path.push(&name);
        let parent = match self.stack.last() {
            Some((_, directory)) => directory.try_clone(),
            None => self.workspace.directory.try_clone(),
        };
        let parent = parent.map_err(|error| system(format!("{:?}", self.text), error))?;
        Ok(Located::Entry(Entry { parent, name, path }))
    }

    fn failed(&self, error: Errno) -> ToolError {
        match error {
            Errno::NOENT => not_found(format!("there is no {:?}", self.text)),
            error => system(format!("{:?}", self.text), error),
        }
    }
}

fn outside(path: &str) -> ToolError {
    let instead = if Path::new(path).starts_with(ProjectPaths::TEMPORARY) {
        "/tmp is for commands, and may be empty for each of them; use a path inside it"
    } else {
        "use a path inside it"
    };
    denied(format!("{path:?} is outside the workspace; {instead}"))
}

#[cfg(test)]
mod tests;
