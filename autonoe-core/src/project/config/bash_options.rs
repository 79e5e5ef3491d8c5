//! What a configuration says about shell commands.

use std::collections::BTreeSet;

use super::Profile;
use crate::domain::Mode;

/// What a configuration says about shell commands, for whoever makes the Bash policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BashOptions {
    /// What the run is for.
    pub mode: Mode,
    /// Which commands of a profile are open.
    pub layer: CommandLayer,
    /// The languages whose commands are open, beside those that every project has.
    pub profiles: BTreeSet<Profile>,
    /// Commands that the configuration adds, by name.
    pub commands: BTreeSet<String>,
    /// Processes that the configuration lets `pkill` end, beside those of the profiles.
    pub pkill_targets: BTreeSet<String>,
}

/// Which commands of a profile are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandLayer {
    /// The full toolchain, verification included.
    Development,
    /// Tests, type checks, linters and builds.
    Verification,
}

impl CommandLayer {
    /// Returns the layer that a run of `mode` has.
    pub fn of(mode: Mode) -> Self {
        match mode {
            Mode::Run => Self::Development,
            Mode::Sync => Self::Verification,
        }
    }
}

/// Says what is wrong with `name` as the name of a command or a process.
pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("it is blank; write a name or remove it")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Some("it must be one word, without arguments")
    } else {
        None
    }
}
