//! Worktrees, with nobody else at them.

use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use autonoe_core::create_folder;
use autonoe_process::CommandEnd;

use super::git::Git;
use super::leftover::{QUIET, remove_locks};
use super::owner::{Record, claim};
use super::remove::remove_folder;
use super::step::Step;
use super::{IsolationError, WorkPlace, Worktrees, turn};

/// What a fast-forward locks in the folder that git has about a work tree.
const FAST_FORWARD: [&str; 4] = [
    "index.lock",
    "HEAD.lock",
    "ORIG_HEAD.lock",
    "AUTO_MERGE.lock",
];

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
    /// Waits for the lock of the worktrees, and repairs an interrupted step.
    ///
    /// # Errors
    ///
    /// [`IsolationError::Stalled`], or an interrupted step cannot be repaired.
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
    /// Finishes an interrupted step. A step that cannot be finished is set aside.
    pub(super) async fn mend(&self) -> Result<(), IsolationError> {
        let folder = &self.trees.folder;
        let Some((step, since)) = Step::broken_off(folder)? else {
            return Ok(());
        };
        match self.mend_step(&step, since).await {
            Ok(()) => Step::end(folder),
            Err(error @ (IsolationError::Foreign { .. } | IsolationError::NotOurs { .. })) => {
                Step::set_aside(folder, &error.to_string())
            }
            Err(error) => Err(error),
        }
    }

    async fn mend_step(&self, step: &Step, since: SystemTime) -> Result<(), IsolationError> {
        let common = &self.trees.repository.common;
        let of_branch = |branch: &str| common.join("refs/heads").join(format!("{branch}.lock"));
        let packed = common.join("packed-refs.lock");
        let locks = match step {
            Step::Create { branch, .. } | Step::Remove { branch, .. } => {
                vec![packed, common.join("config.lock"), of_branch(branch)]
            }
            // Who removed the folder left nothing to mend but the lock of the branch.
            Step::Advance { folder, base, .. } if !folder.exists() => vec![of_branch(base)],
            Step::Advance { folder, base, .. } => {
                let admin = self.trees.repository.dir_of(folder)?;
                let of_fast_forward = FAST_FORWARD.map(|name| admin.join(name));
                [vec![packed, of_branch(base)], of_fast_forward.into()].concat()
            }
        };
        remove_locks(&locks, since, QUIET, &self.folders()).await?;
        match step {
            Step::Create {
                folder,
                branch,
                at,
                before,
            } => {
                self.take_away(folder, branch, Some(at)).await?;
                self.remove_unfinished_admin(folder, before)
            }
            Step::Remove { folder, branch, at } => {
                self.take_away(folder, branch, at.as_deref()).await
            }
            Step::Advance { folder, .. } if !folder.exists() => Ok(()),
            Step::Advance {
                folder,
                base,
                from,
                to,
            } => {
                self.are_there(folder, [from, to]).await?;
                self.settle(folder, base, (from, to), since).await
            }
        }
    }

    /// Makes sure that the repository has commits.
    async fn are_there(&self, folder: &Path, commits: [&str; 2]) -> Result<(), IsolationError> {
        for commit in commits {
            let asked = ["cat-file", "-e", &format!("{commit}^{{commit}}")];
            let said = self.git.attempt(&self.trees.repo, &asked).await?;
            if matches!(said.end, CommandEnd::Exited { code } if code != 0) {
                return Err(not_ours(folder, "its repository has not the commits"));
            }
        }
        Ok(())
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
        let since = SystemTime::UNIX_EPOCH;
        remove_locks(&locks, since, Duration::ZERO, &[&place.folder]).await?;
        // To commit, to merge and to reset forget what was going on, each under the lock of all
        // packed refs, which is not of this worktree alone.
        let packed = [common.join("packed-refs.lock")];
        remove_locks(&packed, Record::written(admin)?, QUIET, &self.folders()).await
    }

    /// Makes a worktree; returns where git keeps what it knows about it, and the right to work there.
    pub(super) async fn make(
        &self,
        place: &WorkPlace,
        at: &str,
        record: &Record,
    ) -> Result<(PathBuf, File), IsolationError> {
        let above = place.folder.parent().unwrap_or(&self.trees.folder);
        create_folder(above).map_err(IsolationError::io(above))?;
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
        let in_use = || IsolationError::InUse {
            pid: record.owner.pid,
            place: place.clone(),
        };
        let claim = claim(&admin)?.ok_or_else(in_use)?;
        Ok((admin, claim))
    }

    /// Takes a worktree away, and its branch if it is still at `at`. It can be done again.
    pub(super) async fn take_away(
        &self,
        folder: &Path,
        branch: &str,
        at: Option<&str>,
    ) -> Result<(), IsolationError> {
        if !is_inside(folder, &self.trees.folder) {
            return Err(not_ours(folder, "it is not a folder of ours"));
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
            CommandEnd::Exited { code: 0 } => Ok(Some(commit)),
            CommandEnd::Exited { code: 1 } => Ok(None),
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

/// Tells whether `path` is inside of `folder`, whatever links and dots there are on the way.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let below = path.strip_prefix(folder).ok();
    let is_plain = below
        .is_some_and(|below| below.components().all(plain) && below.components().next().is_some());
    // What is not there any more leads nowhere.
    let above = path.parent().filter(|above| above.exists());
    let real = above.map(|above| above.canonicalize());
    is_plain && real.is_none_or(|real| real.is_ok_and(|real| real.starts_with(folder)))
}

fn not_ours(folder: &Path, reason: &'static str) -> IsolationError {
    IsolationError::NotOurs {
        folder: folder.to_owned(),
        reason,
    }
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

    #[test]
    fn what_leads_out_of_a_folder_is_not_inside() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("there");
        let trees = root.join("trees");
        fs::create_dir_all(trees.join("fleet")).expect("a folder");
        fs::create_dir(root.join("elsewhere")).expect("a folder");
        std::os::unix::fs::symlink(root.join("elsewhere"), trees.join("link")).expect("a link");

        for (path, inside) in [
            ("fleet/one", true),
            ("gone/one", true),
            ("", false),
            ("../elsewhere/x", false),
            ("fleet/../../elsewhere/x", false),
            ("link/x", false),
        ] {
            assert_eq!(is_inside(&trees.join(path), &trees), inside, "{path}");
        }
        assert!(!is_inside(&root.join("elsewhere/x"), &trees));
    }
}
