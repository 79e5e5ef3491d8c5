//! Options of `autonoe check`.

use autonoe_core::Profile;
use clap::Args;

use super::{ModeChoice, ProjectArgs};

/// What is judged, and what comes of it.
const INPUT_AND_EXIT_CODES: &str = "\
Without a COMMAND, or with `-`, commands are read from standard input, one JSON string or
{\"command\": ..} per line, and each is answered by a line of JSON.

Exit codes:
  0  allowed; from standard input, all of them
  1  denied; from standard input, at least one
  2  the check could not be made: wrong usage, a project that cannot be used, a line that is
     not understood, or no command at all";

/// Options of `autonoe check`.
#[derive(Debug, Args)]
#[command(after_help = INPUT_AND_EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// What an agent would hand to Bash
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    pub(crate) command: Option<String>,
    /// The mode of the run
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub(crate) mode: ModeChoice,
    /// A language whose commands are open, instead of those of agent.json; can be repeated
    #[arg(long = "profile", value_name = "PROFILE", value_parser = profile)]
    pub(crate) profiles: Vec<Profile>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Judge as with `autonoe run --allow-destructive`
    #[arg(long, short = 'D')]
    pub(crate) allow_destructive: bool,
    /// Print JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
}

fn profile(name: &str) -> Result<Profile, String> {
    let mut all = Profile::ALL.into_iter();
    all.find(|profile| profile.name() == name).ok_or_else(|| {
        let names = Profile::ALL.map(Profile::name).join(", ");
        format!("it is one of {names}")
    })
}
