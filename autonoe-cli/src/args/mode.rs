//! `ModeChoice`, the value of `--mode`.

use autonoe_core::Mode;
use clap::ValueEnum;

/// Mode of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeChoice {
    /// Agents work on the deliverables
    #[default]
    Run,
    /// Agents verify the code without changing it
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
