//! What is told of the end of a process.

use crate::{Action, Exit};

/// How a process was ended, and what else had to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutDown {
    /// How it ended; `None` if even a kill has not ended it within the limit.
    pub exit: Option<Exit>,
    /// What ended it.
    pub ended_by: EndedBy,
    /// Other processes of it that had to be killed.
    pub killed: Vec<ProcessInfo>,
    /// What still lived when the limit was over.
    pub left: Vec<ProcessInfo>,
    /// The end of what it wrote to its standard error.
    pub stderr_tail: String,
}

impl ShutDown {
    /// Tells whether the process has ended and nothing of it is left.
    pub fn is_complete(&self) -> bool {
        self.exit.is_some() && self.left.is_empty()
    }
}

/// What ended a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndedBy {
    /// It had ended before anything was done.
    Itself,
    /// This step of the ladder.
    Step(Action),
    /// The kill at the end of the ladder.
    Kill,
    /// Nothing: it lives, as far as anybody knows.
    Nothing,
}

/// What was killed, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sweep {
    /// Processes that were killed.
    pub killed: Vec<ProcessInfo>,
    /// Processes that still lived when the limit was over.
    pub left: Vec<ProcessInfo>,
}

/// A process as the system lists it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Its number.
    pub pid: u32,
    /// The number of its parent.
    pub parent: u32,
    /// The name of its program, as the system shortens it.
    pub name: String,
}
