//! Worktrees, with nobody else at them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::git::Git;
use super::leftover::remove_locks;
use super::owner::Record;
use super::remove::remove_folder;
use super::step::Step;
use super::{IsolationError, WorkPlace, Worktrees, turn};

/// Worktrees, with nobody else at them until it is dropped and the last git that it started is gone.
pub(super) struct Locked {
    pub(super) git: Git,
    pub(super) trees: Worktrees,
    _lock: Arc<File>,
}

/// A worktree, as git lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) folder: PathBuf,
    /// The branch that it is on, by its whole name.
    pub(super) branch: Option<String>,
}

impl Worktrees {
    /// Waits until nobody else is at the worktrees, and mends what was broken off.
    ///
    /// # Errors
    ///
    /// [`IsolationError::Stalled`], or what was broken off cannot be mended.
    pub(super) async fn lock(&self) -> Result<Locked, IsolationError> {
        // It is never removed: each git has it.
        let path = self.folder.join(".lock");
        let lock = Arc::new(turn::take(&path, self.patience, || Ok(())).await?);
        let locked = Locked {
            git: self.git.holding(&lock),
            trees: self.clone(),
            _lock: lock,
        };
        locked.mend().await?;
        Ok(locked)
    }
}

impl Locked {
    /// Brings what was broken off to an end.
    pub(super) async fn mend(&self) -> Result<(), IsolationError> {
        let Some((step, since)) = Step::broken_off(&self.trees.folder)? else {
            return Ok(());
        };
        let common = &self.trees.repository.common;
        let of_branch = |branch: &str| common.join("refs/heads").join(format!("{branch}.lock"));
        let mut locks = vec![common.join("packed-refs.lock"), common.join("config.lock")];
        match &step {
            Step::Create { branch, .. } | Step::Remove { branch, .. } => {
                locks.push(of_branch(branch));
            }
            Step::Advance { folder, base, .. } => {
                let admin = self.trees.repository.dir_of(folder)?;
                locks.extend(locks_in(&admin)?);
                locks.push(of_branch(base));
            }
        }
        remove_locks(&locks, since, &self.folders()).await?;
        match &step {
            Step::Create {
                folder,
                branch,
                at,
                before,
            } => {
                self.take_away(folder, branch, Some(at)).await?;
                self.remove_unfinished_admin(folder, before)?;
            }
            Step::Remove { folder, branch, at } => {
                self.take_away(folder, branch, at.as_deref()).await?;
            }
            Step::Advance {
                folder,
                base,
                from,
                to,
            } => self.settle(folder, base, (from, to), since).await?,
        }
        Step::end(&self.trees.folder)
    }

    /// Brings a worktree whose owner was killed into a state that git can work with.
    pub(super) async fn mend_worktree(
        &self,
        place: &WorkPlace,
        admin: &Path,
    ) -> Result<(), IsolationError> {
        let mut locks = locks_in(admin)?;
        let common = &self.trees.repository.common;
        locks.push(common.join(format!("refs/heads/{}.lock", place.branch)));
        let since = std::time::SystemTime::UNIX_EPOCH;
        remove_locks(&locks, since, &[&place.folder]).await?;
        // To commit, to merge and to reset forget what was going on, each under the lock of all
        // packed refs, which is not of this worktree alone.
        let packed = [common.join("packed-refs.lock")];
        remove_locks(&packed, Record::written(admin)?, &self.folders()).await
    }

    /// Makes a worktree; returns what git keeps about it.
    pub(super) async fn make(
        &self,
        place: &WorkPlace,
        at: &str,
        record: &Record,
    ) -> Result<PathBuf, IsolationError> {
        let above = place.folder.parent().unwrap_or(&self.trees.folder);
        fs::create_dir_all(above).map_err(IsolationError::io(above))?;
        let folder = utf8(&place.folder)?;
        let add = [
            "worktree",
            "add",
            "--quiet",
            "--no-track",
            "-b",
            &place.branch,
            folder,
            at,
        ];
        self.git.ask(&self.trees.repo, &add).await?;
        let admin = self.admin_of(&place.folder)?;
        record.write(&admin)?;
        Ok(admin)
    }

    /// Takes a worktree away, and its branch if it is still at `at`. It can be done again.
    pub(super) async fn take_away(
        &self,
        folder: &Path,
        branch: &str,
        at: Option<&str>,
    ) -> Result<(), IsolationError> {
        if !folder.starts_with(&self.trees.folder) || folder == self.trees.folder {
            let reason = std::io::Error::other("it is not a folder of ours");
            return Err(IsolationError::io(folder)(reason));
        }
        remove_folder(folder).await?;
        if self.list().await?.iter().any(|tree| tree.folder == folder) {
            let remove = ["worktree", "remove", "--force", "--force", utf8(folder)?];
            self.git.ask(&self.trees.repo, &remove).await?;
        }
        let now = self.commit_of(branch).await?;
        if let (Some(at), Some(now)) = (at, now)
            && at == now
        {
            let delete = ["update-ref", "-d", &format!("refs/heads/{branch}"), at];
            self.git.ask(&self.trees.repo, &delete).await?;
        }
        // The folder of the fleet goes with its last worktree.
        if let Some(above) = folder.parent().filter(|above| *above != self.trees.folder) {
            let _ = fs::remove_dir(above);
        }
        Ok(())
    }

    /// Removes what a killed `git worktree add` had begun and no list shows.
    fn remove_unfinished_admin(
        &self,
        folder: &Path,
        before: &[String],
    ) -> Result<(), IsolationError> {
        let own = folder.file_name().and_then(|name| name.to_str());
        let own = own.unwrap_or_default();
        for name in self.trees.admin_names() {
            let number = name.strip_prefix(own);
            let is_named_so = number.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
            let admin = self.trees.repository.common.join("worktrees").join(&name);
            let points_to = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
            let points_to = Path::new(points_to.trim());
            let is_ours = points_to.as_os_str().is_empty() || points_to == folder.join(".git");
            if is_named_so && is_ours && !before.contains(&name) {
                fs::remove_dir_all(&admin).map_err(IsolationError::io(admin))?;
            }
        }
        Ok(())
    }

    /// Returns the commit of a branch; `None` if there is no such branch.
    pub(super) async fn commit_of(&self, branch: &str) -> Result<Option<String>, IsolationError> {
        let commit = format!("refs/heads/{branch}^{{commit}}");
        let asked = ["rev-parse", "--verify", "--quiet", &commit];
        let said = self.git.attempt(&self.trees.repo, &asked).await?;
        let commit = super::git::text(&said.stdout).trim().to_owned();
        match said.end {
            autonoe_process::CommandEnd::Exited { code: 0 } => Ok(Some(commit)),
            autonoe_process::CommandEnd::Exited { code: 1 } => Ok(None),
            _ => Err(super::git::failed(&asked, &said)),
        }
    }

    /// Returns where git keeps what it knows about the worktree in `folder`.
    pub(super) fn admin_of(&self, folder: &Path) -> Result<PathBuf, IsolationError> {
        let admin = self.trees.repository.admin_of(folder)?;
        admin.ok_or_else(|| IsolationError::Foreign {
            folder: folder.to_owned(),
            found: "unknown to git".to_owned(),
        })
    }

    /// Lists all worktrees of the repository, its own folder included.
    pub(super) async fn list(&self) -> Result<Vec<Listed>, IsolationError> {
        let asked = ["worktree", "list", "--porcelain", "-z"];
        let said = self.git.ask(&self.trees.repo, &asked).await?;
        Ok(parse(&said))
    }

    fn folders(&self) -> [&Path; 3] {
        [
            &self.trees.repo,
            &self.trees.repository.common,
            &self.trees.folder,
        ]
    }
}

/// Reads a list of worktrees: attributes that end with NUL, records that end with an empty one.
fn parse(said: &str) -> Vec<Listed> {
    let mut list: Vec<Listed> = Vec::new();
    for attribute in said.split('\0') {
        if let Some(folder) = attribute.strip_prefix("worktree ") {
            list.push(Listed {
                folder: folder.into(),
                branch: None,
            });
        } else if let (Some(branch), Some(last)) =
            (attribute.strip_prefix("branch "), list.last_mut())
        {
            last.branch = Some(branch.to_owned());
        }
    }
    list
}

/// Returns the locks right inside of a folder: of the index, of `HEAD`, and of each name under which
/// git remembers what is going on.
fn locks_in(folder: &Path) -> Result<Vec<PathBuf>, IsolationError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(IsolationError::io(folder))?;
    let paths = entries.into_iter().map(|entry| entry.path());
    Ok(paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "lock"))
        .collect())
}

/// Returns a path as an argument.
pub(super) fn utf8(path: &Path) -> Result<&str, IsolationError> {
    path.to_str().ok_or_else(|| {
        let reason = std::io::Error::other("its name is not UTF-8");
        IsolationError::io(path)(reason)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_git_is_read() {
        let said = "worktree /a b\0HEAD 12\0branch refs/heads/main\0\0worktree /c\0HEAD 12\0detached\0locked initializing\0\0";

        let list = parse(said);

        let branches: Vec<_> = list.iter().map(|tree| tree.branch.as_deref()).collect();
        assert_eq!(branches, [Some("refs/heads/main"), None]);
        assert_eq!(list[0].folder, Path::new("/a b"));
    }
}
