//! Git repository and the git directories of its worktrees.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::IsolationError;

/// A repository, and the git directories of its worktrees.
///
/// The file `.git` of a worktree names its git directory, but an agent can write that file. So the
/// repository is the authority, and a worktree that contradicts it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The work tree that was opened.
    pub(crate) top: PathBuf,
    /// The git directory of that work tree.
    pub(crate) dir: PathBuf,
    /// The common git directory of the repository, `.git`.
    pub(crate) common: PathBuf,
}

impl Repository {
    /// Returns the git directory of the work tree in `folder`.
    ///
    /// # Errors
    ///
    /// It is not a work tree of this repository, or its file `.git` contradicts that.
    pub(super) fn dir_of(&self, folder: &Path) -> Result<PathBuf, IsolationError> {
        if folder == self.top {
            return Ok(self.dir.clone());
        }
        if let Some(admin) = self.admin_of(folder)? {
            check_link(folder, &admin)?;
            return Ok(admin);
        }
        let is_main = self.common == folder.join(".git");
        is_main
            .then(|| self.common.clone())
            .ok_or_else(|| foreign(folder, "no repository"))
    }

    /// Finds the git directory of the worktree in `folder`, without accessing the worktree.
    ///
    /// # Errors
    ///
    /// Two git directories claim that folder.
    pub(super) fn admin_of(&self, folder: &Path) -> Result<Option<PathBuf>, IsolationError> {
        let mut admins = self.admins().filter(|admin| is_about(admin, folder));
        match (admins.next(), admins.next()) {
            (_, Some(_)) => Err(foreign(folder, "two entries of its repository")),
            (found, None) => Ok(found),
        }
    }

    /// Returns whether the worktree is no longer in the location that `admin` names.
    pub(super) fn has_lost(&self, admin: &Path) -> bool {
        let target = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
        let target = admin.join(target.trim_end_matches('\n'));
        target
            .parent()
            .is_none_or(|folder| check_link(folder, admin).is_err())
    }

    /// Lists the git directories of all worktrees.
    pub(super) fn admins(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.common.join("worktrees"));
        let entries = entries.into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    }
}

fn is_about(admin: &Path, folder: &Path) -> bool {
    let target = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
    let target = admin.join(target.trim_end_matches('\n'));
    let Some(target) = target
        .parent()
        .filter(|_| target.file_name() == Some(".git".as_ref()))
    else {
        return false;
    };
    let is_same = || Some(target.canonicalize().ok()? == folder.canonicalize().ok()?);
    target == folder || is_same().unwrap_or(false)
}

/// Checks that the file `.git` of a worktree names `admin`.
fn check_link(folder: &Path, admin: &Path) -> Result<(), IsolationError> {
    let file = folder.join(".git");
    let is_file = match file.symlink_metadata() {
        Ok(found) => found.is_file(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(foreign(folder, "no repository"));
        }
        Err(error) => return Err(IsolationError::io(file)(error)),
    };
    if !is_file {
        return Err(foreign(folder, "a repository of its own"));
    }
    let text = fs::read(&file).map_err(IsolationError::io(&file))?;
    let text = super::git::text(&text);
    let target = text
        .trim_end_matches('\n')
        .strip_prefix("gitdir: ")
        .unwrap_or_default();
    let real = |path: &Path| path.canonicalize().ok();
    if real(&folder.join(target)).is_some_and(|target| Some(target) == real(admin)) {
        Ok(())
    } else {
        Err(foreign(folder, target))
    }
}

fn foreign(folder: &Path, found: &str) -> IsolationError {
    IsolationError::Foreign {
        folder: folder.to_owned(),
        found: found.to_owned(),
    }
}
