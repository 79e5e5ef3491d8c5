//! Errors of worktrees, and the location of kept work.

use std::fmt;
use std::io;
use std::path::PathBuf;

use autonoe_process::CommandError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::executor::Verification;

/// Location of work that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkLocation {
    /// The branch with the committed work.
    pub branch: String,
    /// The folder with the rest of the work.
    pub folder: PathBuf,
}

impl fmt::Display for WorkLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "branch {} in {}", self.branch, self.folder.display())
    }
}

/// Error of isolating an agent or merging its work. No work was lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolationError {
    /// There is no repository for worktrees.
    #[error("{} is not in a git working tree: {output}", folder.display())]
    NoRepository {
        /// The folder.
        folder: PathBuf,
        /// The output of git.
        output: String,
    },
    /// There is no such branch, or it has no commit.
    #[error("the repository has no branch {branch:?}, or the branch has no commit")]
    NoBranch {
        /// The branch.
        branch: String,
    },
    /// No branch is checked out in the repository.
    #[error("no branch is checked out in {}", folder.display())]
    Detached {
        /// The folder of the repository.
        folder: PathBuf,
    },
    /// Git ignores the folder of the project, so no work there would be merged.
    #[error("git ignores {}, so work there could not be merged", folder.display())]
    Ignored {
        /// The folder of the project.
        folder: PathBuf,
    },
    /// A name that cannot be part of a branch and a folder.
    #[error("the name {name:?} is invalid: {reason}")]
    InvalidName {
        /// The name.
        name: String,
        /// The problem with it.
        reason: &'static str,
    },
    /// The worktree exists already, perhaps with work in it.
    #[error("the worktree already exists: {0}")]
    Exists(WorkLocation),
    /// A live process works there.
    #[error("process {pid} uses the worktree: {place}")]
    InUse {
        /// The process ID.
        pid: u32,
        /// The worktree.
        place: WorkLocation,
    },
    /// The agent has left its branch.
    #[error("the worktree is on {found} instead of its branch; its work is kept: {place}")]
    LeftBranch {
        /// The current position of the worktree.
        found: String,
        /// The worktree.
        place: WorkLocation,
    },
    /// The folder is no longer a worktree of the repository, or claims not to be one.
    #[error("{} points to the repository {found:?} instead of the one it was created for; its work \
         is kept", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The repository that the folder claims.
        found: String,
    },
    /// There is a repository inside of the worktree, whose work git would not commit.
    #[error("there is a git repository inside the worktree ({inside}); its work is kept: {place}")]
    NestedRepository {
        /// The path of that repository in the worktree.
        inside: String,
        /// The worktree.
        place: WorkLocation,
    },
    /// There is uncommitted work.
    #[error("there is uncommitted work ({files}); it is kept: {place}")]
    Uncommitted {
        /// The first uncommitted file, or a description.
        files: String,
        /// The worktree.
        place: WorkLocation,
    },
    /// There is unmerged work.
    #[error("there is work that is not merged into {base}; it is kept: {place}")]
    Unmerged {
        /// The base that lacks it.
        base: String,
        /// The worktree.
        place: WorkLocation,
    },
    /// The work conflicts with newer commits of the base.
    #[error("cannot merge the work into {base}: conflicts in {files}; it is kept: {place}")]
    Conflict {
        /// The base.
        base: String,
        /// The conflicting files.
        files: String,
        /// The worktree.
        place: WorkLocation,
    },
    /// The checks did not pass.
    #[error("the work was not merged, because it is {verification}; it is kept: {place}")]
    ChecksFailed {
        /// The result of the checks.
        verification: Verification,
        /// The worktree.
        place: WorkLocation,
    },
    /// The merge is no longer wanted, for example because the run was cancelled.
    #[error("the work was not merged, because the merge was cancelled; it is kept: {place}")]
    MergeCancelled {
        /// The worktree.
        place: WorkLocation,
    },
    /// The base is checked out in a folder with changes that would be overwritten.
    #[error("the work was not merged, because {} has uncommitted changes: {output}; it is kept: \
         {place}", into.display())]
    WouldOverwrite {
        /// The folder that has the base checked out.
        into: PathBuf,
        /// The output of git.
        output: String,
        /// The worktree.
        place: WorkLocation,
    },
    /// The base kept moving during the merge.
    #[error(
        "the work was not merged, because {base} kept moving; try again later; it is kept: {place}"
    )]
    BaseMoves {
        /// The base.
        base: String,
        /// The worktree.
        place: WorkLocation,
    },
    /// An interrupted step cannot be repaired while git is running.
    #[error("{} was left by an interrupted git, and process {pid} uses git there", file.display())]
    Busy {
        /// The file.
        file: PathBuf,
        /// The process ID.
        pid: u32,
    },
    /// A record about a folder cannot be ours.
    #[error("{}: {reason}", folder.display())]
    RefusedFolder {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// A process keeps a lock and makes no progress.
    #[error("process {holder:?} holds {} and makes no progress", file.display())]
    Stalled {
        /// The lock.
        file: PathBuf,
        /// The process ID, if the process has recorded it.
        holder: String,
    },
    /// Git failed.
    #[error("git {doing} {status}: {output}")]
    Git {
        /// The command of git.
        doing: String,
        /// The exit status.
        status: String,
        /// The output of git.
        output: String,
    },
    /// Git could not be run.
    #[error("cannot run git {doing}")]
    Command {
        /// The command of git.
        doing: String,
        /// The error.
        source: CommandError,
    },
    /// A file or a folder cannot be used.
    #[error("cannot use {}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
}

impl IsolationError {
    /// Creates the error of a path.
    #[doc(hidden)]
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
