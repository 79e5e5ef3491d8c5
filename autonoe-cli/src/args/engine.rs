//! Options of `autonoe engine`.

use std::path::PathBuf;

use autonoe_core::RunId;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, Subcommand};

use super::OutputFormat;

/// Options of `autonoe engine`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done, 1 failure or a run that has ended, 2 wrong usage or a run that \
    nobody knows."
)]
pub(crate) struct EngineArgs {
    #[command(subcommand)]
    pub(crate) command: EngineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EngineCommand {
    /// Show how a run stands: what it does, where, what it has cost, and what it came to
    Status(EngineStatusArgs),
    /// Tell what happened in a run, from the journal on its host
    Logs(EngineLogsArgs),
    /// Have a run begin no other session until it is resumed
    Pause(EngineRunArgs),
    /// Let a run go on
    Resume(EngineRunArgs),
    /// Tell the agent of a run something; it hears it in its next session
    Say(EngineSayArgs),
    /// End a run with all that it has started
    Cancel(EngineCancelArgs),
}

/// Where runs are driven that do not belong to this process.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EnginePlaceArgs {
    /// The settings of the cluster, a JSON file as for `autonoe-worker --config`
    #[arg(long, value_name = "FILE", help_heading = "Engine")]
    pub(crate) engine_config: Option<PathBuf>,
    /// The address of the server [default: that of the settings, else http://127.0.0.1:7233]
    #[arg(long, value_name = "URL", help_heading = "Engine")]
    pub(crate) address: Option<String>,
    /// The namespace of the server [default: that of the settings, else default]
    #[arg(long, value_name = "NAME", help_heading = "Engine")]
    pub(crate) namespace: Option<String>,
    /// The queue that workers take runs from [default: that of the settings, else autonoe]
    #[arg(long, value_name = "NAME", help_heading = "Engine")]
    pub(crate) queue: Option<String>,
    /// The program that speaks with the server [default: `autonoe-worker` beside this one, or on
    /// PATH]
    #[arg(long, value_name = "PROGRAM", help_heading = "Engine")]
    pub(crate) engine_program: Option<PathBuf>,
}

/// Which run of which engine a command is about.
#[derive(Debug, Args)]
pub(crate) struct EngineRunArgs {
    /// The id of the run, as `autonoe submit` has printed it
    #[arg(value_name = "RUN", value_parser = run_id())]
    pub(crate) run: RunId,
    #[command(flatten)]
    pub(crate) engine: EnginePlaceArgs,
}

/// Options of `autonoe engine status`.
#[derive(Debug, Args)]
pub(crate) struct EngineStatusArgs {
    #[command(flatten)]
    pub(crate) which: EngineRunArgs,
    /// How it is written: `text` for people, `json` for other programs
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    #[arg(hide_possible_values = true)]
    pub(crate) output: OutputFormat,
}

/// Options of `autonoe engine logs`.
#[derive(Debug, Args)]
pub(crate) struct EngineLogsArgs {
    #[command(flatten)]
    pub(crate) which: EngineRunArgs,
    /// Go on with what comes, until the run ends or you press Ctrl-C
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// Print the lines of the journal as they are, one JSON object each
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `autonoe engine say`.
#[derive(Debug, Args)]
pub(crate) struct EngineSayArgs {
    #[command(flatten)]
    pub(crate) which: EngineRunArgs,
    /// What its agent is told
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

/// Options of `autonoe engine cancel`.
#[derive(Debug, Args)]
pub(crate) struct EngineCancelArgs {
    #[command(flatten)]
    pub(crate) which: EngineRunArgs,
    /// Why, for whoever reads its result
    #[arg(long, value_name = "TEXT", default_value = "a person cancelled it")]
    pub(crate) reason: String,
}

/// Reads the id of a run.
pub(super) fn run_id() -> impl TypedValueParser<Value = RunId> {
    NonEmptyStringValueParser::new().try_map(RunId::checked)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn engine(words: &[&str]) -> Result<EngineCommand, clap::Error> {
        let words = ["autonoe", "engine"].iter().chain(words);
        match Cli::try_parse_from(words)?.command {
            Command::Engine(args) => Ok(args.command),
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn each_command_names_its_run() {
        for command in ["status", "logs", "pause", "resume", "cancel"] {
            assert!(engine(&[command, "shop-1"]).is_ok(), "{command}");
            assert!(engine(&[command]).is_err(), "{command}");
            assert!(engine(&[command, ""]).is_err(), "{command}");
        }
        assert!(engine(&["say", "shop-1", "Hello."]).is_ok());
        assert!(engine(&["say", "shop-1"]).is_err());
    }

    #[test]
    fn an_id_of_a_run_leads_nowhere_and_hides_nothing() {
        let longest = "x".repeat(RunId::LONGEST);
        for id in ["shop-1", "night.shop_1", "7", &longest] {
            assert!(engine(&["status", id]).is_ok(), "{id}");
        }

        for id in ["../x", ".a", "a b", "a\u{1b}[2J"] {
            let error = engine(&["status", "--", id]).expect_err("no id");

            assert_eq!(error.exit_code(), 2, "{id:?}");
            let words = error.to_string();
            assert!(words.contains("an id of a run has letters"), "{words}");
        }
    }

    #[test]
    fn where_the_engine_is_can_be_said_for_each() {
        let words = ["pause", "shop-1", "--engine-config=c.json", "--queue", "q"];

        let EngineCommand::Pause(args) = engine(&words).expect("right") else {
            panic!("it is another command");
        };

        assert_eq!(args.engine.engine_config, Some(PathBuf::from("c.json")));
        assert_eq!(args.engine.queue.as_deref(), Some("q"));
        assert_eq!(args.engine.engine_program, None);
    }

    #[test]
    fn who_cancels_need_not_say_why() {
        let EngineCommand::Cancel(args) = engine(&["cancel", "shop-1"]).expect("right") else {
            panic!("it is another command");
        };

        assert_eq!(args.reason, "a person cancelled it");
    }
}
