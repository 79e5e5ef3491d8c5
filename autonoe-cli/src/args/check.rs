//! Options of `autonoe check`.

use autonoe_core::gate::policy::Profile;
use clap::Args;

use super::{ModeChoice, ProjectArgs};

/// Describes the input and the exit codes, for the help.
const INPUT_AND_EXIT_CODES: &str = "\
Without a COMMAND, or with `-`, commands are read from standard input: one JSON
string or {\"command\": ..} per line. The answer to each is one line of JSON.

Exit codes:
  0  allowed; for standard input, all commands
  1  denied; for standard input, at least one command
  2  not checked: wrong usage, a project that cannot be used, an invalid line,
     or no command";

/// Options of `autonoe check`.
#[derive(Debug, Args)]
#[command(after_help = INPUT_AND_EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// The Bash command to check
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    pub(crate) command: Option<String>,
    /// The mode of the run
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub(crate) mode: ModeChoice,
    /// A language profile to use instead of those in agent.json; repeatable
    #[arg(long = "profile", value_name = "PROFILE", value_parser = profile)]
    pub(crate) profiles: Vec<Profile>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Check as for `autonoe run --allow-destructive`
    #[arg(long, short = 'D')]
    pub(crate) allow_destructive: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn profile(name: &str) -> Result<Profile, String> {
    let mut all = Profile::ALL.into_iter();
    all.find(|profile| profile.name() == name).ok_or_else(|| {
        let names = Profile::ALL.map(Profile::name).join(", ");
        format!("expected one of {names}")
    })
}
