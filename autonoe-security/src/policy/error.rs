//! Errors of building a policy.

use std::fmt;

use crate::Denial;

/// An error of building a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// The project directory is not absolute.
    RelativeProject(String),
    /// The name of a command or process is blank, or several words.
    NotAWord(String),
    /// An example that must be allowed is denied.
    ExampleDenied {
        /// The example.
        command: String,
        /// The denial.
        denial: Box<Denial>,
    },
    /// An example that must be denied is allowed.
    ExampleAllowed(String),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RelativeProject(folder) => {
                write!(
                    f,
                    "the project directory {folder:?} is not an absolute path"
                )
            }
            Self::NotAWord(name) => {
                write!(
                    f,
                    "{name:?} is not the name of a command or process; write one word"
                )
            }
            Self::ExampleDenied { command, .. } => {
                write!(f, "the example {command:?} should be allowed but is denied")
            }
            Self::ExampleAllowed(command) => {
                write!(f, "the example {command:?} should be denied but is allowed")
            }
        }
    }
}

impl std::error::Error for PolicyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::ExampleDenied { denial, .. } => Some(denial.as_ref()),
            _ => None,
        }
    }
}
