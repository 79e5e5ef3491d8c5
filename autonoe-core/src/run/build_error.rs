//! Why a runner cannot be put together.

use std::path::PathBuf;

use autonoe_security::{PolicyError, ScopeMismatch};

use crate::domain::InvalidValue;
use crate::port::NoRandomness;

/// Why a runner cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A part that is needed was not given.
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
    /// An MCP server has the name under which our own tools are offered.
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
    /// A value with which no run could do anything.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// The configuration of `.bash_policy(..)` makes no policy.
    #[error("the configuration of .bash_policy(..) makes no policy")]
    BashPolicy(#[from] PolicyError),
    /// The validator of `.bash_security(..)` was made for another run.
    #[error(
        "{0}; call .bash_policy(..) instead of .bash_security(..), which takes them from the run"
    )]
    BashScope(Box<ScopeMismatch>),
    /// The operating system has no randomness for ids.
    #[error("ids cannot be made")]
    NoIds(#[from] NoRandomness),
}
