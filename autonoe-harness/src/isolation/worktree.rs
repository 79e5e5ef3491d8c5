//! Worktree of one agent: its creation, its use and its removal.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::locked::{ListedWorktree, LockedWorktrees};
use super::owner::{OwnerRecord, Process, WorktreeOperation, claim};
use super::{Author, IsolationError, WorkLocation, Worktrees, check_name, project_folder};

/// The worktree of one agent, on a branch of its own.
///
/// As long as it or a clone of it lives, no one else can open the worktree. Dropping it leaves
/// everything as it is: [`Worktrees::open_existing`] opens it again, and [`Worktrees::clean_up`] removes it
/// if there is no work in it.
#[derive(Clone, Debug)]
pub struct Worktree {
    pub(super) trees: Worktrees,
    record: OwnerRecord,
    root: PathBuf,
    folder: PathBuf,
    pub(super) admin: PathBuf,
    /// The claim, held as long as this file is open.
    _claim: Arc<File>,
}

impl Worktrees {
    /// Creates a worktree on a branch of its own, starting at the current commit of the branch
    /// `base`.
    ///
    /// # Errors
    ///
    /// It cannot be created; then nothing of it is left. [`IsolationError::Exists`] if there is a
    /// worktree or a branch of that name: it may contain unmerged work.
    pub async fn create(&self, name: &str, base: &str) -> Result<Worktree, IsolationError> {
        check_name(name)?;
        let locked = self.lock().await?;
        let place = self.location(name);
        let at = locked.commit_of(base).await?;
        let at = at.ok_or_else(|| IsolationError::NoBranch {
            branch: base.to_owned(),
        })?;
        let branch_exists = locked.commit_of(&place.branch).await?.is_some();
        if branch_exists || place.folder.symlink_metadata().is_ok() {
            return Err(IsolationError::Exists(place));
        }
        let step = WorktreeOperation::Create {
            folder: place.folder.clone(),
            branch: place.branch.clone(),
            at: at.clone(),
            before: self.admin_names(),
        };
        step.begin(&self.folder)?;
        let record = OwnerRecord {
            owner: Process::current(),
            fleet: self.fleet.clone(),
            name: name.to_owned(),
            branch: place.branch.clone(),
            base: base.to_owned(),
            run: self.run.clone(),
        };
        let created = locked.create_worktree(&place, &at, &record).await;
        let created = created.and_then(|created| {
            project_folder::create(&place.folder, &self.project_subfolder)?;
            Ok(created)
        });
        match created {
            Ok((admin, claim)) => {
                WorktreeOperation::end(&self.folder)?;
                let at = (place.folder, admin);
                Ok(Worktree::new(self.clone(), record, at, claim))
            }
            Err(error) => {
                locked.repair().await?;
                Err(error)
            }
        }
    }

    /// Opens the existing worktree `name`, if its previous owner is gone or has released it; `None`
    /// if there is none.
    ///
    /// # Errors
    ///
    /// [`IsolationError::InUse`] if it is claimed, even by this process. [`IsolationError::Exists`]
    /// if it was created for another [run](Self::for_run).
    pub async fn open_existing(&self, name: &str) -> Result<Option<Worktree>, IsolationError> {
        check_name(name)?;
        let locked = self.lock().await?;
        let place = self.location(name);
        let is_listed =
            |list: Vec<ListedWorktree>| list.iter().any(|tree| tree.folder == place.folder);
        if !is_listed(locked.list().await?) && !locked.relocate(name, &place)? {
            return Ok(None);
        }
        let admin = locked.admin_of(&place.folder)?;
        let Some(mut record) = OwnerRecord::read(&admin)? else {
            return Err(IsolationError::Exists(place));
        };
        let Some(claim) = claim(&admin)? else {
            let pid = record.owner.pid;
            return Err(IsolationError::InUse { pid, place });
        };
        let is_of_another = record
            .run
            .as_ref()
            .zip(self.run.as_ref())
            .is_some_and(|(recorded, own)| recorded != own);
        if is_of_another {
            return Err(IsolationError::Exists(place));
        }
        locked.repair_worktree(&place, &admin).await?;
        record.owner = Process::current();
        record.write(&admin)?;
        let at = (place.folder, admin);
        Ok(Some(Worktree::new(self.clone(), record, at, claim)))
    }
}

impl Worktree {
    fn new(
        trees: Worktrees,
        record: OwnerRecord,
        (root, admin): (PathBuf, PathBuf),
        claim: File,
    ) -> Self {
        Self {
            folder: project_folder::path_in(&root, &trees.project_subfolder),
            trees,
            record,
            root,
            admin,
            _claim: Arc::new(claim),
        }
    }

    /// Ensures that the working folder of the agent exists inside of the worktree.
    pub(crate) fn make_folder(&self) -> Result<(), IsolationError> {
        project_folder::create(&self.root, &self.trees.project_subfolder)
    }

    /// Returns the working folder of the agent: that of the project, which may be a subfolder of
    /// the worktree.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the root folder of the worktree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns its branch.
    pub fn branch(&self) -> &str {
        &self.record.branch
    }

    /// Returns the branch that its work is merged into.
    pub fn base(&self) -> &str {
        &self.record.base
    }

    /// Returns the location of its work.
    pub fn location(&self) -> WorkLocation {
        WorkLocation {
            branch: self.record.branch.clone(),
            folder: self.root.clone(),
        }
    }

    /// Commits everything in the worktree on its branch, as `author`: including untracked files,
    /// excluding ignored ones. Returns the commit of the branch.
    ///
    /// # Errors
    ///
    /// The agent has left the branch or the repository, or there is a nested repository or a
    /// conflict. Everything stays as it is.
    pub async fn commit_all(
        &self,
        author: &Author,
        message: &str,
    ) -> Result<String, IsolationError> {
        let (git, folder, place) = (&self.trees.git, self.root(), self.location());
        check_branch(git, &place).await?;
        if check_no_nested_repository(git, &place).await? == Conflicts::Some {
            return Err(IsolationError::Uncommitted {
                files: "files with conflicts".to_owned(),
                place,
            });
        }
        git.run_ok(folder, &["add", "--all"]).await?;
        let staged = ["diff-index", "--cached", "-z", "--no-renames", "HEAD"];
        let staged = git.run_ok(folder, &staged).await?;
        if let Some(inside) = new_repository(&staged) {
            git.run_ok(folder, &["reset", "--quiet"]).await?;
            return Err(IsolationError::NestedRepository { inside, place });
        }
        if !staged.is_empty() || self.admin.join("MERGE_HEAD").exists() {
            let commit = [
                "commit",
                "--quiet",
                "--no-verify",
                "--cleanup=verbatim",
                "-m",
                message,
            ];
            let mut command: Vec<String> = author.settings().into();
            command.extend(commit.map(str::to_owned));
            git.run_ok(folder, &command).await?;
        }
        git.run_ok(folder, &["rev-parse", "HEAD"]).await
    }
}

/// Finds a newly staged nested repository: git would record its commit only, and not its files.
fn new_repository(raw: &str) -> Option<String> {
    let mut fields = raw.split('\0');
    while let (Some(change), Some(path)) = (fields.next(), fields.next()) {
        let mut modes = change.trim_start_matches(':').split(' ');
        let (old, new) = (modes.next(), modes.next());
        if new == Some("160000") && old != new {
            return Some(path.to_owned());
        }
    }
    None
}

impl Worktree {
    /// Removes the worktree and its branch, if all of its work is in the base.
    ///
    /// Files that git ignores are removed, too.
    ///
    /// # Errors
    ///
    /// There is uncommitted or unmerged work. Then nothing has changed.
    pub async fn remove(&self) -> Result<(), IsolationError> {
        let locked = self.trees.lock().await?;
        let at = locked.check_merged(&self.location(), self.base()).await?;
        locked.remove(&self.location(), Some(at)).await
    }

    /// Removes the folder and keeps the branch, which contains all of the work.
    ///
    /// # Errors
    ///
    /// There is uncommitted work. Then nothing has changed.
    pub async fn remove_folder_only(&self) -> Result<(), IsolationError> {
        let locked = self.trees.lock().await?;
        locked.check_committed(&self.location()).await?;
        locked.remove(&self.location(), None).await
    }

    /// Removes the worktree and its branch with **everything in it**, committed or not: for the
    /// work of a losing member.
    ///
    /// # Errors
    ///
    /// It cannot be removed.
    pub async fn discard(&self) -> Result<(), IsolationError> {
        let locked = self.trees.lock().await?;
        let at = locked.commit_of(self.branch()).await?;
        locked.remove(&self.location(), at).await
    }
}

impl LockedWorktrees {
    /// Removes a worktree. An interrupted removal is resumed.
    pub(super) async fn remove(
        &self,
        place: &WorkLocation,
        at: Option<String>,
    ) -> Result<(), IsolationError> {
        let step = WorktreeOperation::Remove {
            folder: place.folder.clone(),
            branch: place.branch.clone(),
            at: at.clone(),
        };
        step.begin(&self.trees.folder)?;
        let removed = self
            .delete(&place.folder, &place.branch, at.as_deref())
            .await;
        // A worktree that cannot be removed must not block everything else.
        WorktreeOperation::end(&self.trees.folder)?;
        removed
    }

    /// Returns the commit of the branch of a worktree whose work is all in `base`.
    ///
    /// # Errors
    ///
    /// Some of its work is not in the base.
    pub(super) async fn check_merged(
        &self,
        place: &WorkLocation,
        base: &str,
    ) -> Result<String, IsolationError> {
        let at = self.check_committed(place).await?;
        let not_in_base = format!("^refs/heads/{base}");
        let command = ["rev-list", "--max-count=1", &at, &not_in_base];
        if self
            .git
            .run_ok(&self.trees.repo, &command)
            .await?
            .is_empty()
        {
            Ok(at)
        } else {
            Err(IsolationError::Unmerged {
                base: base.to_owned(),
                place: place.clone(),
            })
        }
    }

    /// Returns the commit of the branch of a worktree without uncommitted work.
    ///
    /// # Errors
    ///
    /// There is uncommitted work, or the worktree is not on its branch.
    pub(super) async fn check_committed(
        &self,
        place: &WorkLocation,
    ) -> Result<String, IsolationError> {
        check_branch(&self.git, place).await?;
        check_clean(&self.git, place).await?;
        self.git.run_ok(&place.folder, &["rev-parse", "HEAD"]).await
    }
}

/// Checks that a worktree is on its branch.
pub(super) async fn check_branch(
    git: &super::git::Git,
    place: &WorkLocation,
) -> Result<(), IsolationError> {
    let command = ["symbolic-ref", "--quiet", "HEAD"];
    let output = git.try_run(&place.folder, &command).await?;
    let found = super::git::text(&output.stdout).trim().to_owned();
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

/// Checks that everything in a worktree is committed, except ignored files.
pub(super) async fn check_clean(
    git: &super::git::Git,
    place: &WorkLocation,
) -> Result<(), IsolationError> {
    check_no_nested_repository(git, place).await?;
    let status = [
        "status",
        "--porcelain",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=none",
    ];
    let output = git.run_ok(&place.folder, &status).await?;
    match output.split('\0').next() {
        None | Some("") => Ok(()),
        Some(first) => Err(IsolationError::Uncommitted {
            files: first.trim().to_owned(),
            place: place.clone(),
        }),
    }
}

/// Whether files contain merge conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// None.
    None,
    /// At least one.
    Some,
}

/// Checks that no submodule is checked out: inspecting one would make git follow the settings in
/// it, and removing it would lose its commits.
pub async fn check_no_nested_repository(
    git: &super::git::Git,
    place: &WorkLocation,
) -> Result<Conflicts, IsolationError> {
    let staged = ["ls-files", "--stage", "-z"];
    let staged = git.run_ok(&place.folder, &staged).await?;
    let mut conflicts = Conflicts::None;
    for (fields, path) in staged
        .split('\0')
        .filter_map(|entry| entry.split_once('\t'))
    {
        if !fields.ends_with(" 0") {
            conflicts = Conflicts::Some;
        }
        let is_module = fields.starts_with("160000 ");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_is_added_is_seen() {
        let plain = ":000000 100644 0 1 A\0a.txt\0";
        let nested = ":000000 160000 0 1 A\0sub/dir\0";
        let moved = ":160000 160000 1 2 M\0module\0";

        assert_eq!(new_repository(""), None);
        assert_eq!(new_repository(plain), None);
        assert_eq!(new_repository(moved), None);
        let both = format!("{plain}{nested}");
        assert_eq!(new_repository(&both).as_deref(), Some("sub/dir"));
    }
}
