//! Why a program was not started.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::SandboxError;

/// Why a program was not started. Nothing of it runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The path of the program depends on where one stands.
    #[error("{program:?} is not an absolute path")]
    NotAbsolute {
        /// The path.
        program: PathBuf,
    },
    /// The program is not there.
    #[error("there is no program {program:?}")]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The program is there and cannot be executed.
    #[error("{program:?} cannot be executed")]
    NotExecutable {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The program is there, and the one that it needs to run is not.
    #[error("{program:?} needs an interpreter or a loader that is not there")]
    NoInterpreter {
        /// The program.
        program: PathBuf,
    },
    /// The child cannot work in its directory.
    #[error("{directory:?} is not a directory that one can work in")]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A variable of the environment cannot have this name or value.
    #[error("the environment variable {name:?} is not valid")]
    Variable {
        /// Its name.
        name: String,
    },
    /// The sandbox cannot be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The system refuses for another reason.
    #[error("{program:?} cannot be started")]
    System {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl LaunchError {
    /// Returns a name of the kind for programs to compare, which stays as it is.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAbsolute { .. } => "program_not_absolute",
            Self::NotFound { .. } => "program_not_found",
            Self::NotExecutable { .. } => "program_not_executable",
            Self::NoInterpreter { .. } => "interpreter_not_found",
            Self::Directory { .. } => "bad_directory",
            Self::Variable { .. } => "bad_variable",
            Self::Sandbox(error) => error.code(),
            Self::System { .. } => "not_started",
        }
    }

    pub(crate) fn system(program: &Path, source: io::Error) -> Self {
        let program = program.to_owned();
        Self::System { program, source }
    }

    /// Looks whether `program` could be executed in `directory`, before somebody else tries.
    pub(crate) fn foresee(program: &Path, directory: &Path) -> Result<(), Self> {
        let refused = |source: io::Error| Err(Self::explain(program, directory, source));
        match (directory.metadata(), program.metadata()) {
            (Ok(directory), _) if !directory.is_dir() => {
                refused(io::ErrorKind::NotADirectory.into())
            }
            (Err(error), _) | (_, Err(error)) => refused(error),
            _ => access(program, Access::EXEC_OK).or_else(|error| refused(error.into())),
        }
    }

    /// Finds out what the system means by `source`.
    ///
    /// It has one number for a directory, a program and an interpreter that are not there.
    pub(crate) fn explain(program: &Path, directory: &Path, source: io::Error) -> Self {
        let (program, directory) = (program.to_owned(), directory.to_owned());
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !directory.is_dir() => {
                Self::Directory { directory, source }
            }
            io::ErrorKind::NotFound if program.exists() => Self::NoInterpreter { program },
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound { program },
            io::ErrorKind::PermissionDenied if access(&directory, Access::EXEC_OK).is_err() => {
                Self::Directory { directory, source }
            }
            io::ErrorKind::PermissionDenied => Self::NotExecutable { program, source },
            _ => Self::System { program, source },
        }
    }
}
