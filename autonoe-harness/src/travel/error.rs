//! Why a project cannot travel.

use autonoe_core::{Epoch, Failure, ProjectError, Retry, SessionHostError, SessionKey};

use crate::IsolationError;

/// Why a project cannot travel. Nothing was lost, here or on the remote.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TravelError {
    /// The address of a remote is not one.
    #[error(
        "{remote:?} is no address of a repository: use https, http, ssh, git, file, user@host:path or an absolute path"
    )]
    InvalidRemote {
        /// The address, without a password.
        remote: String,
    },
    /// The remote does not answer, or closes the connection.
    #[error("the remote {remote} does not answer: {said}")]
    Away {
        /// The remote.
        remote: String,
        /// What git said.
        said: String,
    },
    /// The remote takes nothing from here.
    #[error("the remote {remote} refuses the branch {branch}: {said}; all is kept here")]
    Refused {
        /// The remote.
        remote: String,
        /// The branch.
        branch: String,
        /// What git said.
        said: String,
    },
    /// Another host has taken over.
    #[error("another host has taken over the branch {branch} with epoch {}", latest.0)]
    Overtaken {
        /// The branch.
        branch: String,
        /// The highest epoch there.
        latest: Epoch,
    },
    /// The run was not taken over with that epoch.
    #[error("the run was not taken over with epoch {}", epoch.0)]
    NotTaken {
        /// The epoch.
        epoch: Epoch,
    },
    /// The branch of the run has commits that no host of the run has made.
    #[error(
        "the branch {branch} has work that is not of this run, at {commit}; nothing there is overwritten, and all is kept here"
    )]
    Foreign {
        /// The branch.
        branch: String,
        /// The commit at its end.
        commit: String,
    },
    /// The branch of the run was there and is gone or set back.
    #[error(
        "the branch {branch} was at {commit} and is not any more; it is not made again, and all is kept here"
    )]
    SetBack {
        /// The branch.
        branch: String,
        /// The commit that it had.
        commit: String,
    },
    /// The branch that the run begins at is not there.
    #[error("the remote {remote} has no branch {base:?} to begin at")]
    NoBase {
        /// The remote.
        remote: String,
        /// The branch.
        base: String,
    },
    /// There is a repository inside of the project, whose work git would not take.
    #[error(
        "there is a git repository inside of the project ({inside}), whose work git does not take; ignore it or move it away"
    )]
    NestedRepository {
        /// Its path in the project.
        inside: String,
    },
    /// A commit has a file that must never travel.
    #[error("the commit {commit} has the file {file}, which must not travel")]
    MustNotTravel {
        /// The commit.
        commit: String,
        /// The file.
        file: String,
    },
    /// Somebody works in the project.
    #[error("somebody works in the project")]
    InUse(#[source] ProjectError),
    /// The folder of the project cannot be used.
    #[error("the folder of the project cannot be used")]
    Project(#[source] ProjectError),
    /// Git did not do what it should, or a name or a file of ours cannot be used.
    #[error(transparent)]
    Git(#[from] IsolationError),
}

impl TravelError {
    /// Tells whether another try may help.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Away { .. } | Self::InUse(_) => Retry::MayHelp,
            Self::Git(IsolationError::InvalidName { .. }) => Retry::Useless,
            // A disk that is full is not full for ever.
            Self::Git(_) => Retry::MayHelp,
            _ => Retry::Useless,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::InvalidRemote { .. } => "invalid_remote",
            Self::Away { .. } => "remote_away",
            Self::Refused { .. } => "remote_refused",
            Self::Overtaken { .. } => "overtaken",
            Self::NotTaken { .. } => "not_taken",
            Self::Foreign { .. } => "foreign_work",
            Self::SetBack { .. } => "branch_set_back",
            Self::NoBase { .. } => "no_base",
            Self::NestedRepository { .. } => "nested_repository",
            Self::MustNotTravel { .. } => "must_not_travel",
            Self::InUse(_) => "project_in_use",
            Self::Project(_) => "project_unusable",
            Self::Git(_) => "travel_failed",
        }
    }

    /// Writes it down as a failure.
    pub(super) fn failure(&self) -> Failure {
        Failure::from_error(self.code(), self, self.retry())
    }

    /// Says why a session has no outcome that others can see.
    pub(super) fn of_session(&self, key: &SessionKey, asked: Epoch) -> SessionHostError {
        match self {
            Self::Overtaken { latest, .. } => SessionHostError::Fenced {
                asked,
                latest: *latest,
            },
            error => SessionHostError::Failed {
                key: key.clone(),
                failure: error.failure(),
            },
        }
    }
}

impl From<ProjectError> for TravelError {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::Locked(_) => Self::InUse(error),
            error => Self::Project(error),
        }
    }
}
