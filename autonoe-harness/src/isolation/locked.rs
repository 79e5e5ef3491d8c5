//! Operations on worktrees under their exclusive lock.

use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use autonoe_core::project::{create_folder, replace_file_durably};
use autonoe_process::CommandOutcome;

use super::git::Git;
use super::owner::{OwnerRecord, WorktreeOperation, claim};
use super::project_folder::remove_folder;
use super::stale_locks::{QUIET, remove_locks};
use super::{IsolationError, WorkLocation, Worktrees, merge_queue};

/// Locks that a fast-forward creates in the git directory of a work tree.
const FAST_FORWARD: [&str; 4] = [
    "index.lock",
    "HEAD.lock",
    "ORIG_HEAD.lock",
    "AUTO_MERGE.lock",
];

/// Exclusive access to the worktrees, until it is dropped and the last git process that it started
/// has ended.
pub(super) struct LockedWorktrees {
    pub(super) git: Git,
    pub(super) trees: Worktrees,
    _lock: Arc<File>,
}

/// A worktree, as listed by git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedWorktree {
    pub(super) folder: PathBuf,
    /// The full name of its branch.
    pub(super) branch: Option<String>,
}

impl Worktrees {
    /// Waits for the lock of the worktrees, and repairs an interrupted step.
    ///
    /// # Errors
    ///
    /// [`IsolationError::Stalled`], or an interrupted step cannot be repaired.
    pub(super) async fn lock(&self) -> Result<LockedWorktrees, IsolationError> {
        // The file is never removed: each git process holds it open.
        let path = self.folder.join(".lock");
        let lock = Arc::new(merge_queue::acquire(&path, self.lock_timeout, || Ok(())).await?);
        let locked = LockedWorktrees {
            git: self.git.holding_lock(&lock),
            trees: self.clone(),
            _lock: lock,
        };
        locked.repair().await?;
        Ok(locked)
    }
}

impl LockedWorktrees {
    /// Finishes an interrupted step. A step that cannot be finished is set aside.
    pub(super) async fn repair(&self) -> Result<(), IsolationError> {
        let folder = &self.trees.folder;
        let Some((step, since)) = WorktreeOperation::interrupted(folder)? else {
            return Ok(());
        };
        match self.repair_step(&step, since).await {
            Ok(()) => WorktreeOperation::end(folder),
            Err(
                error @ (IsolationError::Foreign { .. } | IsolationError::RefusedFolder { .. }),
            ) => WorktreeOperation::quarantine(folder, &error.to_string()),
            Err(error) => Err(error),
        }
    }

    async fn repair_step(
        &self,
        step: &WorktreeOperation,
        since: SystemTime,
    ) -> Result<(), IsolationError> {
        let common = &self.trees.repository.common;
        let of_branch = |branch: &str| common.join("refs/heads").join(format!("{branch}.lock"));
        let packed = common.join("packed-refs.lock");
        let locks = match step {
            WorktreeOperation::Create { branch, .. } | WorktreeOperation::Remove { branch, .. } => {
                vec![packed, common.join("config.lock"), of_branch(branch)]
            }
            // If the folder was removed, only the lock of the branch is left to repair.
            WorktreeOperation::Advance { folder, base, .. } if !folder.exists() => {
                vec![of_branch(base)]
            }
            WorktreeOperation::Advance { folder, base, .. } => {
                let admin = self.trees.repository.dir_of(folder)?;
                let of_fast_forward = FAST_FORWARD.map(|name| admin.join(name));
                [vec![packed, of_branch(base)], of_fast_forward.into()].concat()
            }
        };
        remove_locks(&locks, since, QUIET, &self.folders()).await?;
        match step {
            WorktreeOperation::Create {
                folder,
                branch,
                at,
                before,
            } => {
                self.delete(folder, branch, Some(at)).await?;
                self.remove_unfinished_admin(folder, before)
            }
            WorktreeOperation::Remove { folder, branch, at } => {
                self.delete(folder, branch, at.as_deref()).await
            }
            WorktreeOperation::Advance { folder, .. } if !folder.exists() => Ok(()),
            WorktreeOperation::Advance {
                folder,
                base,
                from,
                to,
            } => {
                self.check_commits(folder, [from, to]).await?;
                self.repair_base_folder(folder, base, (from, to), since)
                    .await
            }
        }
    }

    /// Checks that the repository contains the commits.
    async fn check_commits(&self, folder: &Path, commits: [&str; 2]) -> Result<(), IsolationError> {
        for commit in commits {
            let command = ["cat-file", "-e", &format!("{commit}^{{commit}}")];
            let output = self.git.try_run(&self.trees.repo, &command).await?;
            if matches!(output.end, CommandOutcome::Exited { code } if code != 0) {
                return Err(foreign_worktree(
                    folder,
                    "its repository does not have the commits",
                ));
            }
        }
        Ok(())
    }

    /// Repairs a worktree whose owner was killed, so that git can work with it.
    pub(super) async fn repair_worktree(
        &self,
        place: &WorkLocation,
        admin: &Path,
    ) -> Result<(), IsolationError> {
        let mut locks = locks_in(admin)?;
        let common = &self.trees.repository.common;
        locks.push(common.join(format!("refs/heads/{}.lock", place.branch)));
        let since = SystemTime::UNIX_EPOCH;
        remove_locks(&locks, since, Duration::ZERO, &[&place.folder]).await?;
        // Commit, merge and reset each delete their state under the lock of all packed refs, which
        // does not belong to this worktree alone.
        let packed = [common.join("packed-refs.lock")];
        remove_locks(
            &packed,
            OwnerRecord::written(admin)?,
            QUIET,
            &self.folders(),
        )
        .await
    }

    /// Creates a worktree. Returns its git directory and the claim to work there.
    pub(super) async fn create_worktree(
        &self,
        place: &WorkLocation,
        at: &str,
        record: &OwnerRecord,
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
        self.git.run_ok(&self.trees.repo, &add).await?;
        let admin = self.admin_of(&place.folder)?;
        record.write(&admin)?;
        let in_use = || IsolationError::InUse {
            pid: record.owner.pid,
            place: place.clone(),
        };
        let claim = claim(&admin)?.ok_or_else(in_use)?;
        Ok((admin, claim))
    }

    /// Removes a worktree, and its branch if that is still at `at`. The operation is idempotent.
    pub(super) async fn delete(
        &self,
        folder: &Path,
        branch: &str,
        at: Option<&str>,
    ) -> Result<(), IsolationError> {
        if !is_inside(folder, &self.trees.folder) {
            return Err(foreign_worktree(folder, "it is not a folder of this fleet"));
        }
        remove_folder(folder).await?;
        if self.list().await?.iter().any(|tree| tree.folder == folder) {
            let remove = ["worktree", "remove", "--force", "--force", utf8(folder)?];
            self.git.run_ok(&self.trees.repo, &remove).await?;
        }
        let now = self.commit_of(branch).await?;
        if let (Some(at), Some(now)) = (at, now)
            && at == now
        {
            let delete = ["update-ref", "-d", &format!("refs/heads/{branch}"), at];
            self.git.run_ok(&self.trees.repo, &delete).await?;
        }
        // The folder of the fleet is removed with its last worktree.
        if let Some(above) = folder.parent().filter(|above| *above != self.trees.folder) {
            let _ = fs::remove_dir(above);
        }
        Ok(())
    }

    /// Removes the remains of a killed `git worktree add` that git does not list.
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
            let points_here = points_to.as_os_str().is_empty() || points_to == folder.join(".git");
            if is_named_so && points_here && !before.contains(&name) {
                fs::remove_dir_all(&admin).map_err(IsolationError::io(admin))?;
            }
        }
        Ok(())
    }

    /// Returns the commit of a branch; `None` if there is no such branch.
    pub(super) async fn commit_of(&self, branch: &str) -> Result<Option<String>, IsolationError> {
        let commit = format!("refs/heads/{branch}^{{commit}}");
        let command = ["rev-parse", "--verify", "--quiet", &commit];
        let output = self.git.try_run(&self.trees.repo, &command).await?;
        let commit = super::git::text(&output.stdout).trim().to_owned();
        match output.end {
            CommandOutcome::Exited { code: 0 } => Ok(Some(commit)),
            CommandOutcome::Exited { code: 1 } => Ok(None),
            _ => Err(super::git::failed(&command, &output)),
        }
    }

    /// Returns the git directory of the worktree in `folder`.
    pub(super) fn admin_of(&self, folder: &Path) -> Result<PathBuf, IsolationError> {
        let admin = self.trees.repository.admin_of(folder)?;
        admin.ok_or_else(|| IsolationError::Foreign {
            folder: folder.to_owned(),
            found: "unknown to git".to_owned(),
        })
    }

    /// Lists all worktrees of the repository, including its own folder.
    pub(super) async fn list(&self) -> Result<Vec<ListedWorktree>, IsolationError> {
        let command = ["worktree", "list", "--porcelain", "-z"];
        let output = self.git.run_ok(&self.trees.repo, &command).await?;
        Ok(parse(&output))
    }

    fn folders(&self) -> [&Path; 3] {
        [
            &self.trees.repo,
            &self.trees.repository.common,
            &self.trees.folder,
        ]
    }
}

/// Parses a list of worktrees: attributes that end with NUL, records that end with an empty
/// attribute.
fn parse(output: &str) -> Vec<ListedWorktree> {
    let mut list: Vec<ListedWorktree> = Vec::new();
    for attribute in output.split('\0') {
        if let Some(folder) = attribute.strip_prefix("worktree ") {
            list.push(ListedWorktree {
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

/// Returns the lock files directly inside of a folder: of the index, of `HEAD`, and of each
/// pseudo-ref for an operation in progress.
fn locks_in(folder: &Path) -> Result<Vec<PathBuf>, IsolationError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(IsolationError::io(folder))?;
    let paths = entries.into_iter().map(|entry| entry.path());
    Ok(paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "lock"))
        .collect())
}

/// Returns whether `path` is inside of `folder`, resolving links and dots.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let below = path.strip_prefix(folder).ok();
    let is_plain = below
        .is_some_and(|below| below.components().all(plain) && below.components().next().is_some());
    // A missing folder has no links to follow.
    let above = path.parent().filter(|above| above.exists());
    let real = above.map(|above| above.canonicalize());
    is_plain && real.is_none_or(|real| real.is_ok_and(|real| real.starts_with(folder)))
}

fn foreign_worktree(folder: &Path, reason: &'static str) -> IsolationError {
    IsolationError::RefusedFolder {
        folder: folder.to_owned(),
        reason,
    }
}

/// Returns a path as a UTF-8 argument.
pub(super) fn utf8(path: &Path) -> Result<&str, IsolationError> {
    path.to_str().ok_or_else(|| {
        let reason = std::io::Error::other("its name is not UTF-8");
        IsolationError::io(path)(reason)
    })
}

impl LockedWorktrees {
    /// Updates git's paths of the worktree `name`, if it was moved or copied together with its
    /// repository. Returns whether it was.
    ///
    /// A worktree and its repository refer to each other by absolute paths. `git worktree repair`
    /// trusts the file `.git` of a worktree, which an agent can write. This function trusts the
    /// record in the git directory of the worktree instead, and that file must name the same entry.
    pub(super) fn relocate(
        &self,
        name: &str,
        place: &WorkLocation,
    ) -> Result<bool, IsolationError> {
        let repository = &self.trees.repository;
        for admin in repository.admins() {
            let Ok(Some(record)) = OwnerRecord::read(&admin) else {
                continue;
            };
            let is_its = record.fleet == self.trees.fleet()
                && record.name == name
                && record.branch == place.branch;
            if is_its && repository.has_lost(&admin) && names(&place.folder, &admin) {
                let write = |path: &Path, text: String| {
                    replace_file_durably(path, text.as_bytes()).map_err(IsolationError::io(path))
                };
                // This file last: until it is written, the worktree counts as moved.
                let file = place.folder.join(".git");
                write(&file, format!("gitdir: {}\n", utf8(&admin)?))?;
                write(&admin.join("gitdir"), format!("{}\n", utf8(&file)?))?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns whether the file `.git` in `folder` names an entry like `admin`, in any location.
fn names(folder: &Path, admin: &Path) -> bool {
    let file = folder.join(".git");
    let is_file = file.symlink_metadata().is_ok_and(|found| found.is_file());
    let text = if is_file {
        fs::read_to_string(&file).unwrap_or_default()
    } else {
        return false;
    };
    let target = text.trim_end_matches('\n').strip_prefix("gitdir: ");
    let last_two = |path: &Path| {
        let above = path.parent().and_then(Path::file_name);
        Some((above?.to_owned(), path.file_name()?.to_owned()))
    };
    target
        .and_then(|target| last_two(Path::new(target)))
        .is_some_and(|found| Some(found) == last_two(admin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktree_list_of_git_is_parsed() {
        let output = "worktree /a b\0HEAD 12\0branch refs/heads/main\0\0worktree /c\0HEAD 12\0detached\0locked initializing\0\0";

        let list = parse(output);

        let branches: Vec<_> = list.iter().map(|tree| tree.branch.as_deref()).collect();
        assert_eq!(branches, [Some("refs/heads/main"), None]);
        assert_eq!(list[0].folder, Path::new("/a b"));
    }

    #[test]
    fn a_path_that_leaves_a_folder_is_not_inside() {
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
