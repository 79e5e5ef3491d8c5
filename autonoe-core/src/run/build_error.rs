//! [`BuildError`], the error of building a runner from its builder.

use std::path::PathBuf;

use autonoe_security::{PolicyError, ScopeMismatch};

use crate::event::InvalidValue;
use crate::time::RandomnessError;

/// The reason why [`SessionRunnerBuilder`](crate::run::SessionRunnerBuilder) cannot build a runner.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A required part was not set.
    #[error("the runner needs its {part}; call .{part}(..)")]
    Missing {
        /// The part, which is also the builder's method that sets it.
        part: &'static str,
    },
    /// The project directory is not an absolute path.
    #[error("the project directory {path:?} is not an absolute path")]
    RelativeProject {
        /// The path.
        path: PathBuf,
    },
    /// An MCP server has the name that is reserved for Autonoe's own tools.
    #[error("the MCP server name {name:?} is taken by the deliverable tools")]
    ReservedServerName {
        /// The name.
        name: String,
    },
    /// A tool has the name of a deliverable tool or of another tool.
    #[error("the tool name {name:?} is taken")]
    ReservedToolName {
        /// The name.
        name: String,
    },
    /// A value that would make every run useless, such as a limit of zero sessions.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// The configuration of `.bash_policy(..)` is not a valid policy.
    #[error("the configuration of .bash_policy(..) is not valid")]
    BashPolicy(#[from] PolicyError),
    /// The validator of `.bash_security(..)` was built for another run.
    #[error(
        "{0}; call .bash_policy(..) instead of .bash_security(..), which takes them from the run"
    )]
    BashScope(Box<ScopeMismatch>),
    /// The operating system provides no randomness for IDs.
    #[error("IDs cannot be generated")]
    NoIds(#[from] RandomnessError),
}
