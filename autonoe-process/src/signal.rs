//! The signals that a child is sent.

use std::fmt;

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
