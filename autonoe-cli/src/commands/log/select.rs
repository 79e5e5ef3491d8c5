//! Which runs to tell.

use crate::args::LogArgs;

/// Which runs to tell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// The last one.
    Last,
    /// The one whose id begins so.
    Run(String),
    /// All of them.
    All,
}

impl Selection {
    pub(super) fn of(args: &LogArgs) -> Self {
        match (&args.run, args.all) {
            (Some(id), _) => Self::Run(id.clone()),
            (None, true) => Self::All,
            (None, false) => Self::Last,
        }
    }
}
