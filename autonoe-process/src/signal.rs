//! The signals that a child is sent.

use std::fmt;

use crate::Launch;

/// A signal that asks a process to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// `SIGINT`. Agents end their tools on it.
    Interrupt,
    /// `SIGTERM`. Some agents leave their tools running on it.
    Terminate,
    /// `SIGKILL`. Nobody cleans up.
    Kill,
}

impl Signal {
    pub(crate) fn to_system(self) -> rustix::process::Signal {
        match self {
            Self::Interrupt => rustix::process::Signal::INT,
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::Kill => "SIGKILL",
        })
    }
}

/// Who gets the signals that are meant for the program of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addressee {
    /// The child, which is the program.
    Child,
    /// The program in the sandbox; the child is bubblewrap, which hands no signals on.
    InSandbox,
}

impl Addressee {
    pub(crate) fn of(launch: &Launch) -> Self {
        match launch.sandbox {
            Some(_) => Self::InSandbox,
            None => Self::Child,
        }
    }
}
