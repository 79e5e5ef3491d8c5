//! Why an agent cannot be isolated, or its work not be taken.

use std::fmt;
use std::io;
use std::path::PathBuf;

use autonoe_process::CommandError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verification;

/// Where work is that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkPlace {
    /// The branch that has what is committed.
    pub branch: String,
    /// The folder that has the rest.
    pub folder: PathBuf,
}

impl fmt::Display for WorkPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "branch {} in {}", self.branch, self.folder.display())
    }
}

/// Why an agent cannot be isolated, or its work cannot be taken. Nothing was lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolationError {
    /// There is no repository to make worktrees of.
    #[error("{} is not in the work tree of a git repository: {said}", folder.display())]
    NoRepository {
        /// The folder.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// There is no such branch, or nothing was ever committed on it.
    #[error("the repository has no branch {branch:?} with a commit")]
    NoBranch {
        /// The branch.
        branch: String,
    },
    /// The repository is on no branch.
    #[error("{} is on no branch", folder.display())]
    Detached {
        /// The folder of the repository.
        folder: PathBuf,
    },
    /// Git ignores the folder of the project, so nothing that is done there would be merged.
    #[error("{} is ignored by git", folder.display())]
    Ignored {
        /// The folder of the project.
        folder: PathBuf,
    },
    /// A name that cannot be part of a branch and a folder.
    #[error("the name {name:?} cannot be used: {reason}")]
    InvalidName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is one already, perhaps with work in it.
    #[error("there is a worktree already: {0}")]
    Exists(WorkPlace),
    /// A process that lives works there.
    #[error("process {pid} works there: {place}")]
    InUse {
        /// The process.
        pid: u32,
        /// The place.
        place: WorkPlace,
    },
    /// The agent went away from its branch.
    #[error("the worktree is not on its branch but on {found}; its work is kept: {place}")]
    LeftBranch {
        /// Where it is.
        found: String,
        /// The place.
        place: WorkPlace,
    },
    /// The folder is not a worktree of the repository any more, or says that it is not.
    #[error("{} says that its repository is {found:?}, which is not where it was made; all is kept", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// What it says.
        found: String,
    },
    /// There is a repository inside of the worktree, whose work git would not take.
    #[error(
        "there is a git repository inside of the worktree ({inside}); its work is kept: {place}"
    )]
    NestedRepository {
        /// Its path in the worktree.
        inside: String,
        /// The place.
        place: WorkPlace,
    },
    /// There is work that was not committed.
    #[error("there is work that was not committed ({what}); it is kept: {place}")]
    Uncommitted {
        /// The first of it.
        what: String,
        /// The place.
        place: WorkPlace,
    },
    /// There is work that was not merged.
    #[error("there is work that is not in {base}; it is kept: {place}")]
    Unmerged {
        /// Where it should be.
        base: String,
        /// The place.
        place: WorkPlace,
    },
    /// The work does not fit to what came to the base meanwhile.
    #[error("the work cannot be merged with {base}: {files} conflict; it is kept: {place}")]
    Conflict {
        /// The base.
        base: String,
        /// The files that conflict.
        files: String,
        /// The place.
        place: WorkPlace,
    },
    /// The checks did not pass.
    #[error("the work was not merged, it is {verification}; it is kept: {place}")]
    ChecksFailed {
        /// What the checks said.
        verification: Verification,
        /// The place.
        place: WorkPlace,
    },
    /// Nobody wants it merged any more, for example because the run was cancelled.
    #[error("the work was not merged, because it is not wanted any more; it is kept: {place}")]
    Unwanted {
        /// The place.
        place: WorkPlace,
    },
    /// The base is checked out somewhere, and what is there would be overwritten.
    #[error("the work was not merged, because {} has changes of its own: {said}; it is kept: {place}", into.display())]
    WouldOverwrite {
        /// The folder that has the base checked out.
        into: PathBuf,
        /// What git said.
        said: String,
        /// The place.
        place: WorkPlace,
    },
    /// The base moved again and again.
    #[error(
        "the work was not merged, because {base} moved meanwhile, again and again; it is kept: {place}"
    )]
    BaseMoves {
        /// The base.
        base: String,
        /// The place.
        place: WorkPlace,
    },
    /// A step of somebody who was killed cannot be tidied up while git is at work.
    #[error("{} was left by a git that was killed, and process {pid} uses git there", file.display())]
    Busy {
        /// The file.
        file: PathBuf,
        /// The process.
        pid: u32,
    },
    /// What was written down about a folder cannot be ours.
    #[error("{}: {reason}", folder.display())]
    NotOurs {
        /// The folder.
        folder: PathBuf,
        /// Why it cannot.
        reason: &'static str,
    },
    /// Somebody keeps a lock and does not go on.
    #[error("{} is held by process {holder:?}, which does not go on", file.display())]
    Stalled {
        /// The lock.
        file: PathBuf,
        /// The process, as far as it said so.
        holder: String,
    },
    /// Git did not do what it should.
    #[error("git {doing} {how}: {said}")]
    Git {
        /// What it was to do.
        doing: String,
        /// How it ended.
        how: String,
        /// What it said.
        said: String,
    },
    /// Git could not be run.
    #[error("git {doing} could not be run")]
    Command {
        /// What it was to do.
        doing: String,
        /// Why.
        source: CommandError,
    },
    /// A file or a folder of ours cannot be used.
    #[error("{} cannot be used", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl IsolationError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
