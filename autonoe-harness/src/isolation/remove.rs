//! Worktrees that are not needed any more.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::locked::Locked;
use super::programs::Programs;
use super::step::Step;
use super::{IsolationError, WorkPlace, Worktree};

impl Worktree {
    /// Takes the worktree and its branch away, once all of its work is in the base.
    ///
    /// What is ignored by git goes, too.
    ///
    /// # Errors
    ///
    /// There is work that was not committed or not merged. Then nothing has changed.
    pub async fn remove(&self) -> Result<(), IsolationError> {
        let locked = self.trees.lock().await?;
        let at = locked.nothing_to_lose(&self.place(), self.base()).await?;
        locked.remove(&self.place(), Some(at)).await
    }

    /// Takes the folder away and keeps the branch, which has all of the work.
    ///
    /// # Errors
    ///
    /// There is work that was not committed. Then nothing has changed.
    pub async fn put_away(&self) -> Result<(), IsolationError> {
        let locked = self.trees.lock().await?;
        locked.all_is_committed(&self.place()).await?;
        locked.remove(&self.place(), None).await
    }

    /// Takes the worktree and its branch away with **all that is in it**, committed or not: for the
    /// work of one that lost, of which nothing is wanted.
    ///
    /// # Errors
    ///
    /// It cannot be done.
    pub async fn discard(&self) -> Result<(), IsolationError> {
        let locked = self.trees.lock().await?;
        let at = locked.commit_of(self.branch()).await?;
        locked.remove(&self.place(), at).await
    }
}

impl Locked {
    /// Removes a worktree. An interrupted removal is resumed.
    pub(super) async fn remove(
        &self,
        place: &WorkPlace,
        at: Option<String>,
    ) -> Result<(), IsolationError> {
        let step = Step::Remove {
            folder: place.folder.clone(),
            branch: place.branch.clone(),
            at: at.clone(),
        };
        step.begin(&self.trees.folder)?;
        let removed = self
            .take_away(&place.folder, &place.branch, at.as_deref())
            .await;
        // What cannot be removed must not be in the way of everything else.
        Step::end(&self.trees.folder)?;
        removed
    }

    /// Returns the commit of the branch of a worktree whose work is all in `base`.
    ///
    /// # Errors
    ///
    /// It is not.
    pub(super) async fn nothing_to_lose(
        &self,
        place: &WorkPlace,
        base: &str,
    ) -> Result<String, IsolationError> {
        let at = self.all_is_committed(place).await?;
        let not_in_base = format!("^refs/heads/{base}");
        let asked = ["rev-list", "--max-count=1", &at, &not_in_base];
        match self.git.ask(&self.trees.repo, &asked).await?.is_empty() {
            true => Ok(at),
            false => Err(IsolationError::Unmerged {
                base: base.to_owned(),
                place: place.clone(),
            }),
        }
    }

    /// Returns the commit of the branch of a worktree in which all is committed, on that branch.
    ///
    /// # Errors
    ///
    /// It is not.
    pub(super) async fn all_is_committed(
        &self,
        place: &WorkPlace,
    ) -> Result<String, IsolationError> {
        on_its_branch(&self.git, place).await?;
        uncommitted(&self.git, place).await?;
        self.git.ask(&place.folder, &["rev-parse", "HEAD"]).await
    }
}

/// Makes sure that a worktree is on its branch.
pub(super) async fn on_its_branch(
    git: &super::git::Git,
    place: &WorkPlace,
) -> Result<(), IsolationError> {
    let asked = ["symbolic-ref", "--quiet", "HEAD"];
    let said = git.attempt(&place.folder, &asked).await?;
    let found = super::git::text(&said.stdout).trim().to_owned();
    if found == format!("refs/heads/{}", place.branch) {
        return Ok(());
    }
    let found = match found.as_str() {
        "" => "no branch".to_owned(),
        found => found.to_owned(),
    };
    Err(IsolationError::LeftBranch {
        found,
        place: place.clone(),
    })
}

/// Makes sure that all in a worktree is committed, but for what git ignores.
pub(super) async fn uncommitted(
    git: &super::git::Git,
    place: &WorkPlace,
) -> Result<(), IsolationError> {
    no_repository_inside(git, place).await?;
    let status = [
        "status",
        "--porcelain",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=none",
    ];
    let said = git.ask(&place.folder, &status).await?;
    match said.split('\0').next() {
        None | Some("") => Ok(()),
        Some(first) => Err(IsolationError::Uncommitted {
            what: first.trim().to_owned(),
            place: place.clone(),
        }),
    }
}

/// Whether there are files in which a merge left conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflicts {
    None,
    Some,
}

/// Makes sure that no submodule is checked out: to look at one, git would follow the settings that
/// stand in there, and to remove it would lose what was committed there.
pub(crate) async fn no_repository_inside(
    git: &super::git::Git,
    place: &WorkPlace,
) -> Result<Conflicts, IsolationError> {
    let staged = ["ls-files", "--stage", "-z"];
    let staged = git.ask(&place.folder, &staged).await?;
    let mut conflicts = Conflicts::None;
    for (fields, path) in staged
        .split('\0')
        .filter_map(|entry| entry.split_once('\t'))
    {
        if !fields.ends_with(" 0") {
            conflicts = Conflicts::Some;
        }
        let is_module = fields.starts_with("160000 ") && git.programs() == Programs::Forbidden;
        let is_checked_out = || {
            place
                .folder
                .join(path)
                .join(".git")
                .symlink_metadata()
                .is_ok()
        };
        if is_module && is_checked_out() {
            return Err(IsolationError::NestedRepository {
                inside: path.to_owned(),
                place: place.clone(),
            });
        }
    }
    Ok(conflicts)
}

/// Removes a folder that may not be there.
pub(super) async fn remove_folder(folder: &Path) -> Result<(), IsolationError> {
    let path = folder.to_owned();
    let removed = tokio::task::spawn_blocking(move || {
        let gone = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                make_writable(&path)?;
                fs::remove_dir_all(&path)
            }
            Err(error) if gone(&error) => Ok(()),
            removed => removed,
        }
    });
    let removed = removed.await;
    let removed = removed.unwrap_or_else(|error| Err(io::Error::other(error)));
    removed.map_err(IsolationError::io(folder))
}

/// Lets everything in a folder be removed: tools like to protect their caches.
fn make_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}
