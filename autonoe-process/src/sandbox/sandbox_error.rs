//! Why there is no sandbox.

use std::io;
use std::path::PathBuf;

use super::Obstacle;

/// Why there is no sandbox. Nothing was started without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// This is not Linux.
    #[error("bubblewrap makes sandboxes on Linux only")]
    NotLinux,
    /// Bubblewrap is not there, or is no program.
    #[error("there is no bubblewrap at {program:?}")]
    Missing {
        /// Where it was looked for.
        program: PathBuf,
    },
    /// Bubblewrap is there and does not work here.
    #[error("bubblewrap cannot make a sandbox here: {said}")]
    Refused {
        /// What stands in its way.
        obstacle: Obstacle,
        /// What it says.
        said: String,
    },
    /// A path depends on where one stands.
    #[error("{path:?} is not an absolute path")]
    NotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// What is to be writable, read-only or hidden cannot be looked at.
    #[error("{path:?} is not there")]
    NotThere {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What the sandbox makes anew, or all there is, cannot be given another meaning.
    #[error("{path:?} is the sandbox's own business")]
    Reserved {
        /// The path.
        path: PathBuf,
    },
    /// A path is to be two things at once.
    #[error("{path:?} cannot be two of writable, read-only and hidden")]
    Contradiction {
        /// The path.
        path: PathBuf,
    },
    /// A path is too deep in a writable directory to be kept from being moved.
    #[error("{path:?} cannot be held: it is not an entry of {writable:?} but deeper in it")]
    Movable {
        /// The path that is to be read-only or hidden.
        path: PathBuf,
        /// The writable directory around it.
        writable: PathBuf,
    },
    /// The system refuses something else.
    #[error("the sandbox cannot be made")]
    System {
        /// What the system says.
        #[from]
        source: io::Error,
    },
}

impl SandboxError {
    /// Returns a name of the kind for programs to compare, which stays as it is.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotLinux => "sandbox_not_linux",
            Self::Missing { .. } => "sandbox_missing",
            Self::Refused { .. } => "sandbox_refused",
            Self::NotAbsolute { .. } => "sandbox_path_not_absolute",
            Self::NotThere { .. } => "sandbox_path_not_there",
            Self::Reserved { .. } => "sandbox_path_reserved",
            Self::Contradiction { .. } => "sandbox_path_contradiction",
            Self::Movable { .. } => "sandbox_path_movable",
            Self::System { .. } => "sandbox_not_made",
        }
    }

    /// Returns what a person can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NotLinux => "switch the sandbox off, and let a container or a VM be one",
            Self::Missing { .. } => {
                "install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"
            }
            Self::Refused { obstacle, .. } => obstacle.remedy(),
            Self::NotAbsolute { .. } => "give the whole path",
            Self::NotThere { .. } => "make it, or leave it out",
            Self::Reserved { .. } => "name what is below it",
            Self::Contradiction { .. } => "name it once",
            Self::Movable { .. } => "name the entry of the writable directory that it is in",
            Self::System { .. } => "see what the system says",
        }
    }
}
