//! Worktree of one agent.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::owner::OwnerRecord;
use super::remove::{Conflicts, check_branch, check_no_nested_repository};
use super::{Author, IsolationError, WorkLocation, Worktrees, project_folder};

/// The worktree of one agent, on a branch of its own.
///
/// As long as it or a clone of it lives, no one else can open the worktree. Dropping it leaves
/// everything as it is: `Worktrees::take_up` opens it again, and `Worktrees::sweep` removes it
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

impl Worktree {
    pub(super) fn new(
        trees: Worktrees,
        record: OwnerRecord,
        (root, admin): (PathBuf, PathBuf),
        claim: File,
    ) -> Self {
        Self {
            folder: project_folder::at(&root, &trees.project_subfolder),
            trees,
            record,
            root,
            admin,
            _claim: Arc::new(claim),
        }
    }

    /// Ensures that the working folder of the agent exists inside of the worktree.
    pub(crate) fn make_folder(&self) -> Result<(), IsolationError> {
        project_folder::make(&self.root, &self.trees.project_subfolder)
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
    pub fn place(&self) -> WorkLocation {
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
        let (git, folder, place) = (&self.trees.git, self.root(), self.place());
        check_branch(git, &place).await?;
        if check_no_nested_repository(git, &place).await? == Conflicts::Some {
            return Err(IsolationError::Uncommitted {
                what: "files with conflicts".to_owned(),
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
