//! Why nothing was begun.

use std::path::PathBuf;

use autonoe_core::BuildError;

use super::{InvalidTask, TaskId};

/// Why a task was not begun: something about it is wrong. Another try gives the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The task itself is wrong.
    #[error(transparent)]
    Invalid(#[from] InvalidTask),
    /// Nobody has this name.
    #[error("there is no executor {cli:?}; {}", list(.known))]
    UnknownCli {
        /// The name.
        cli: String,
        /// The names of all executors.
        known: Vec<String>,
    },
    /// The task is for another executor.
    #[error("the task {task} is for {cli:?}, and this is {executor:?}")]
    WrongCli {
        /// The task.
        task: TaskId,
        /// Whom it is for.
        cli: String,
        /// Who was asked.
        executor: String,
    },
    /// The folder of the task is not there, or not inside of the folder of the executor.
    #[error("the task {task} cannot be done in {folder:?}: {reason}")]
    Folder {
        /// The task.
        task: TaskId,
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Sessions cannot be put together.
    #[error("the sessions of {executor:?} cannot be put together")]
    Setup {
        /// The executor.
        executor: String,
        /// Why.
        source: BuildError,
    },
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none is known".to_owned(),
        names => format!("known are {}", names.join(", ")),
    }
}
