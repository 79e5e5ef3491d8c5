//! [`SandboxError`] of a sandbox that cannot be created.

use std::io;
use std::path::PathBuf;

use super::Obstacle;

/// Error of a sandbox that cannot be created. Nothing was started without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The system is not Linux.
    #[error("bubblewrap works on Linux only")]
    NotLinux,
    /// Bubblewrap does not exist, or is not executable.
    #[error("there is no bubblewrap at {program:?}")]
    Missing {
        /// The expected path of bubblewrap.
        program: PathBuf,
    },
    /// Bubblewrap exists and does not work here.
    #[error("bubblewrap cannot create a sandbox on this system: {output}")]
    Refused {
        /// The obstacle.
        obstacle: Obstacle,
        /// The output of bubblewrap.
        output: String,
    },
    /// A path is relative.
    #[error("{path:?} is not an absolute path")]
    NotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// A writable, read-only or hidden path cannot be accessed.
    #[error("{path:?} does not exist")]
    PathMissing {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path is the root, or is reserved for the sandbox.
    #[error("{path:?} is set up by the sandbox itself")]
    Reserved {
        /// The path.
        path: PathBuf,
    },
    /// A path was requested with two kinds of access.
    #[error("{path:?} is listed in more than one of writable, read-only and hidden")]
    Contradiction {
        /// The path.
        path: PathBuf,
    },
    /// A path is too deep in a writable directory to be protected from being moved.
    #[error("{path:?} cannot be protected: it is not a direct entry of {writable:?}")]
    Movable {
        /// The read-only or hidden path.
        path: PathBuf,
        /// The writable directory around it.
        writable: PathBuf,
    },
    /// The system refused something else.
    #[error("the sandbox cannot be created")]
    System {
        /// The error of the system.
        #[from]
        source: io::Error,
    },
}

impl SandboxError {
    /// Returns a stable, machine-readable code of the kind.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotLinux => "sandbox_not_linux",
            Self::Missing { .. } => "sandbox_missing",
            Self::Refused { .. } => "sandbox_refused",
            Self::NotAbsolute { .. } => "sandbox_path_not_absolute",
            Self::PathMissing { .. } => "sandbox_path_not_there",
            Self::Reserved { .. } => "sandbox_path_reserved",
            Self::Contradiction { .. } => "sandbox_path_contradiction",
            Self::Movable { .. } => "sandbox_path_movable",
            Self::System { .. } => "sandbox_not_made",
        }
    }

    /// Returns the remedy for the operator.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NotLinux => {
                "switch the sandbox off, and run in a container or a virtual machine instead"
            }
            Self::Missing { .. } => {
                "install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"
            }
            Self::Refused { obstacle, .. } => obstacle.remedy(),
            Self::NotAbsolute { .. } => "give an absolute path",
            Self::PathMissing { .. } => "create it, or leave it out",
            Self::Reserved { .. } => "name entries below it",
            Self::Contradiction { .. } => "name it once",
            Self::Movable { .. } => {
                "name the direct entry of the writable directory that contains it"
            }
            Self::System { .. } => "read the error of the system",
        }
    }
}
