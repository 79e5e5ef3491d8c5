//! Selection of the runs that `autonoe log` prints.

use crate::args::LogArgs;

/// Runs to print.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// The last run.
    Last,
    /// The run whose ID starts with this prefix.
    Run(String),
    /// All runs.
    All,
}

impl Selection {
    pub(super) fn from_args(args: &LogArgs) -> Self {
        match (&args.run, args.all) {
            (Some(id), _) => Self::Run(id.clone()),
            (None, true) => Self::All,
            (None, false) => Self::Last,
        }
    }
}
