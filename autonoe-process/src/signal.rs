//! [`Signal`]s that end a child, and their target.

use std::fmt;

use crate::Launch;

/// A signal that ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// `SIGINT`. Agents end their tools on it.
    Interrupt,
    /// `SIGTERM`. Some agents leave their tools running on it.
    Terminate,
    /// `SIGKILL`. Nothing is cleaned up.
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

/// The receiver of the signals for the program of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalTarget {
    /// The child, which is the program.
    Child,
    /// The program in the sandbox. The child is bubblewrap, which does not forward signals.
    InSandbox,
}

impl SignalTarget {
    pub(crate) fn for_launch(launch: &Launch) -> Self {
        match launch.sandbox {
            Some(_) => Self::InSandbox,
            None => Self::Child,
        }
    }
}
