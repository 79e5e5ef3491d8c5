//! Who gets a signal.

use crate::Launch;

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
