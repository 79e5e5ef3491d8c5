//! [`LaunchError`] of a program that was not started.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::SandboxError;

/// Error of a program that was not started. None of its processes runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The path of the program is relative.
    #[error("{program:?} is not an absolute path")]
    NotAbsolute {
        /// The path.
        program: PathBuf,
    },
    /// The program does not exist.
    #[error("there is no program {program:?}")]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The program exists and cannot be executed.
    #[error("{program:?} cannot be executed")]
    NotExecutable {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The program exists, and the interpreter or loader that it needs does not.
    #[error("{program:?} needs an interpreter or a dynamic loader that does not exist")]
    NoInterpreter {
        /// The program.
        program: PathBuf,
    },
    /// The directory cannot be the working directory of the child.
    #[error("{directory:?} is not a directory that a program can start in")]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// An environment variable cannot have this name or value.
    #[error("the environment variable {name:?} is not valid")]
    Variable {
        /// Its name.
        name: String,
    },
    /// The sandbox cannot be created.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The system refused for another reason.
    #[error("{program:?} cannot be started")]
    System {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl LaunchError {
    /// Returns a stable, machine-readable code of the kind.
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

    /// Checks whether `program` could be executed in `directory`, before bubblewrap tries.
    pub(crate) fn preflight(program: &Path, directory: &Path) -> Result<(), Self> {
        let refused = |source: io::Error| Err(Self::from_system(program, directory, source));
        match (directory.metadata(), program.metadata()) {
            (Ok(directory), _) if !directory.is_dir() => {
                refused(io::ErrorKind::NotADirectory.into())
            }
            (Err(error), _) | (_, Err(error)) => refused(error),
            _ => access(program, Access::EXEC_OK).or_else(|error| refused(error.into())),
        }
    }

    /// Determines the kind of the system error `source`.
    ///
    /// The system has one error code for a directory, a program and an interpreter that do not
    /// exist.
    pub(crate) fn from_system(program: &Path, directory: &Path, source: io::Error) -> Self {
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
