//! What a run is for, where no command says it.

use autonoe_core::Mode;
use clap::ValueEnum;

/// What a run is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeChoice {
    /// Agents work on the deliverables
    #[default]
    Run,
    /// Agents look, and change nothing
    Sync,
}

impl From<ModeChoice> for Mode {
    fn from(choice: ModeChoice) -> Self {
        match choice {
            ModeChoice::Run => Self::Run,
            ModeChoice::Sync => Self::Sync,
        }
    }
}
