//! Errors of synchronising a project between hosts.

use autonoe_core::engine::SessionHostError;
use autonoe_core::event::{Failure, Retry};
use autonoe_core::project::ProjectError;
use autonoe_core::time::{Epoch, SessionKey};

use autonoe_harness::isolation::IsolationError;

/// Error of synchronising a project. Nothing was lost, here or on the remote.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The address of a remote is invalid.
    #[error(
        "{remote:?} is not the address of a repository: use https, http, ssh, git, file, \
         user@host:path or an absolute path"
    )]
    InvalidRemote {
        /// The address, without a password.
        remote: String,
    },
    /// The remote does not answer, or closes the connection.
    #[error("the remote {remote} is unreachable: {output}")]
    Unreachable {
        /// The remote.
        remote: String,
        /// The output of git.
        output: String,
    },
    /// The remote refuses pushes from here.
    #[error(
        "the remote {remote} rejected a push to the branch {branch}: {output}; the work is kept \
         on this host"
    )]
    Refused {
        /// The remote.
        remote: String,
        /// The branch.
        branch: String,
        /// The output of git.
        output: String,
    },
    /// Another host has taken over.
    #[error("another host has taken over the branch {branch} with epoch {}", latest.0)]
    Overtaken {
        /// The branch.
        branch: String,
        /// The highest epoch on the branch.
        latest: Epoch,
    },
    /// This host has not taken over the run with that epoch.
    #[error("the run was not claimed with epoch {}", epoch.0)]
    NotTakenOver {
        /// The epoch.
        epoch: Epoch,
    },
    /// The branch of the run has commits that no host of the run has created.
    #[error(
        "the branch {branch} has a commit that is not of this run, {commit}; nothing is \
         overwritten, and the work is kept on this host"
    )]
    Foreign {
        /// The branch.
        branch: String,
        /// The last commit of the branch.
        commit: String,
    },
    /// The branch of the run was deleted or set back.
    #[error(
        "the branch {branch} was at {commit}, and this commit is gone; the branch is not \
         recreated, and the work is kept on this host"
    )]
    BranchReset {
        /// The branch.
        branch: String,
        /// The commit that it had.
        commit: String,
    },
    /// The base branch of the run does not exist.
    #[error("the remote {remote} has no branch {base:?} to start from")]
    NoBase {
        /// The remote.
        remote: String,
        /// The branch.
        base: String,
    },
    /// The remote lacks a branch that is to be merged.
    #[error("the remote {remote} has no branch {branch:?}")]
    NoBranch {
        /// The remote.
        remote: String,
        /// The branch.
        branch: String,
    },
    /// There is a repository inside of the project, whose work git would not commit.
    #[error(
        "there is a git repository inside the project ({inside}), whose files git does not add; \
         ignore it or move it away"
    )]
    NestedRepository {
        /// The path of that repository in the project.
        inside: String,
    },
    /// A commit contains a file that must never be synchronised.
    #[error("the commit {commit} contains the file {file}, which must not be published")]
    ForbiddenFile {
        /// The commit.
        commit: String,
        /// The file.
        file: String,
    },
    /// A session is running in the project.
    #[error("another process works in the project")]
    InUse(#[source] ProjectError),
    /// The folder of the project cannot be used.
    #[error("cannot use the folder of the project")]
    Project(#[source] ProjectError),
    /// Git failed, or a name or a file cannot be used.
    #[error(transparent)]
    Git(#[from] IsolationError),
}

impl SyncError {
    /// Returns whether a retry may help.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Unreachable { .. } | Self::InUse(_) => Retry::Retryable,
            Self::Git(IsolationError::InvalidName { .. }) => Retry::Permanent,
            // A full disk may have space again.
            Self::Git(_) => Retry::Retryable,
            _ => Retry::Permanent,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::InvalidRemote { .. } => "invalid_remote",
            Self::Unreachable { .. } => "remote_away",
            Self::Refused { .. } => "remote_refused",
            Self::Overtaken { .. } => "overtaken",
            Self::NotTakenOver { .. } => "not_taken",
            Self::Foreign { .. } => "foreign_work",
            Self::BranchReset { .. } => "branch_set_back",
            Self::NoBase { .. } => "no_base",
            Self::NoBranch { .. } => "no_branch",
            Self::NestedRepository { .. } => "nested_repository",
            Self::ForbiddenFile { .. } => "forbidden_file",
            Self::InUse(_) => "project_in_use",
            Self::Project(_) => "project_unusable",
            Self::Git(_) => "git_sync_failed",
        }
    }

    /// Converts the error of a session whose outcome other hosts cannot see.
    pub(crate) fn into_session_error(self, key: &SessionKey, requested: Epoch) -> SessionHostError {
        match self {
            Self::Overtaken { latest, .. } => SessionHostError::Fenced { requested, latest },
            error => SessionHostError::Failed {
                key: key.clone(),
                failure: error.into(),
            },
        }
    }
}

impl From<SyncError> for Failure {
    fn from(error: SyncError) -> Self {
        Self::from_error(error.code(), &error, error.retry())
    }
}

impl From<ProjectError> for SyncError {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::Locked(_) => Self::InUse(error),
            error => Self::Project(error),
        }
    }
}
