//! Where a repository keeps what it knows about its worktrees.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::IsolationError;

/// A repository, and where it keeps what it knows about each of its worktrees.
///
/// A worktree says in its file `.git` where that is, and an agent can write that file. So the
/// repository is asked, and a worktree that says otherwise is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The work tree that was opened.
    pub(crate) top: PathBuf,
    /// What git knows about that one.
    pub(crate) dir: PathBuf,
    /// What git knows about the repository, `.git`.
    pub(crate) common: PathBuf,
}

impl Repository {
    /// Returns where git keeps what it knows about the work tree in `folder`.
    ///
    /// # Errors
    ///
    /// It is none of this repository, or its file `.git` says so.
    pub(super) fn dir_of(&self, folder: &Path) -> Result<PathBuf, IsolationError> {
        if folder == self.top {
            return Ok(self.dir.clone());
        }
        if let Some(admin) = self.admin_of(folder)? {
            says(folder, &admin)?;
            return Ok(admin);
        }
        let is_main = self.common == folder.join(".git");
        is_main
            .then(|| self.common.clone())
            .ok_or_else(|| foreign(folder, "no repository"))
    }

    /// Finds where git keeps what it knows about the worktree in `folder`, which is not looked at.
    ///
    /// # Errors
    ///
    /// Two claim to be about that folder.
    pub(super) fn admin_of(&self, folder: &Path) -> Result<Option<PathBuf>, IsolationError> {
        let mut admins = self.admins().filter(|admin| is_about(admin, folder));
        match (admins.next(), admins.next()) {
            (_, Some(_)) => Err(foreign(folder, "two entries of its repository")),
            (found, None) => Ok(found),
        }
    }

    /// Tells whether there is no worktree any more where `admin` says that it is.
    pub(super) fn has_lost(&self, admin: &Path) -> bool {
        let said = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
        let said = admin.join(said.trim_end_matches('\n'));
        said.parent()
            .is_none_or(|folder| says(folder, admin).is_err())
    }

    /// Lists where git keeps what it knows about worktrees.
    pub(super) fn admins(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.common.join("worktrees"));
        let entries = entries.into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    }
}

fn is_about(admin: &Path, folder: &Path) -> bool {
    let said = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
    let said = admin.join(said.trim_end_matches('\n'));
    let Some(said) = said
        .parent()
        .filter(|_| said.file_name() == Some(".git".as_ref()))
    else {
        return false;
    };
    let is_same = || Some(said.canonicalize().ok()? == folder.canonicalize().ok()?);
    said == folder || is_same().unwrap_or(false)
}

/// Makes sure that the file `.git` of a worktree says that it is the one of `admin`.
fn says(folder: &Path, admin: &Path) -> Result<(), IsolationError> {
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
    let said = text
        .trim_end_matches('\n')
        .strip_prefix("gitdir: ")
        .unwrap_or_default();
    let real = |path: &Path| path.canonicalize().ok();
    match real(&folder.join(said)).is_some_and(|said| Some(said) == real(admin)) {
        true => Ok(()),
        false => Err(foreign(folder, said)),
    }
}

fn foreign(folder: &Path, found: &str) -> IsolationError {
    IsolationError::Foreign {
        folder: folder.to_owned(),
        found: found.to_owned(),
    }
}
