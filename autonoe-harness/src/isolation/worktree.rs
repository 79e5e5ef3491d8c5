//! The worktree of one agent.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::owner::Record;
use super::remove::{Conflicts, no_repository_inside, on_its_branch};
use super::{Author, IsolationError, WorkPlace, Worktrees, project_folder};

/// The worktree of one agent, on a branch of its own.
///
/// As long as it or a clone of it lives, nobody else can take the worktree up. Dropping it leaves
/// everything as it is: [`Worktrees::take_up`] goes on with it, and [`Worktrees::sweep`] removes it
/// if there is no work in it.
#[derive(Clone, Debug)]
pub struct Worktree {
    pub(super) trees: Worktrees,
    record: Record,
    root: PathBuf,
    folder: PathBuf,
    pub(super) admin: PathBuf,
    /// Nobody else works there as long as this is open.
    _claim: Arc<File>,
}

impl Worktree {
    pub(super) fn new(
        trees: Worktrees,
        record: Record,
        (root, admin): (PathBuf, PathBuf),
        claim: File,
    ) -> Self {
        Self {
            folder: project_folder::at(&root, &trees.inside),
            trees,
            record,
            root,
            admin,
            _claim: Arc::new(claim),
        }
    }

    /// Makes sure that the folder that the agent works in is there, and in the worktree.
    pub(crate) fn make_folder(&self) -> Result<(), IsolationError> {
        project_folder::make(&self.root, &self.trees.inside)
    }

    /// Returns the folder that the agent works in: the one of the project, which may be inside of
    /// the worktree.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder that all of the worktree is in.
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

    /// Returns where its work is.
    pub fn place(&self) -> WorkPlace {
        WorkPlace {
            branch: self.record.branch.clone(),
            folder: self.root.clone(),
        }
    }

    /// Commits all that is in the worktree on its branch, in the name of `author`: what is not
    /// tracked too, what is ignored not. Returns the commit that the branch is at.
    ///
    /// # Errors
    ///
    /// The agent went away from the branch or from the repository, or left a repository inside or
    /// conflicts. Everything stays as it is.
    pub async fn finish(&self, author: &Author, message: &str) -> Result<String, IsolationError> {
        let (git, folder, place) = (&self.trees.git, self.root(), self.place());
        on_its_branch(git, &place).await?;
        if no_repository_inside(git, &place).await? == Conflicts::Some {
            return Err(IsolationError::Uncommitted {
                what: "files with conflicts".to_owned(),
                place,
            });
        }
        git.ask(folder, &["add", "--all"]).await?;
        let staged = ["diff-index", "--cached", "-z", "--no-renames", "HEAD"];
        let staged = git.ask(folder, &staged).await?;
        if let Some(inside) = new_repository(&staged) {
            git.ask(folder, &["reset", "--quiet"]).await?;
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
            git.ask(folder, &command).await?;
        }
        git.ask(folder, &["rev-parse", "HEAD"]).await
    }
}

/// Finds a repository that was put into the index: git would take its number and leave its work.
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
