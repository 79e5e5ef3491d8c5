//! What the program is told on its command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Carries out runs of Autonoe that are submitted to a Temporal server.
///
/// Each session is carried out by the program `autonoe`, in the folder of its project below
/// --project-root. What stands after -- is handed on to `autonoe session-host`.
#[derive(Clone, Debug, Parser)]
#[command(name = "autonoe-worker", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// A JSON file with the settings below; what is said here counts more
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The address of the server [default: http://127.0.0.1:7233]
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) address: Option<String>,
    /// The namespace of the server [default: default]
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) namespace: Option<String>,
    /// The queue that runs are taken from [default: autonoe]
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) queue: Option<String>,
    /// How many sessions are carried out at once [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) slots: Option<u16>,
    /// The folder that the projects are below
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project_root: Option<PathBuf>,
    /// What the address of a project's git repository begins with: projects then travel between
    /// hosts as a branch. The name of the project follows, and `.git`
    #[arg(long, value_name = "URL")]
    pub(crate) remote_root: Option<String>,
    /// The name of this host, by which runs can be placed on it [default: that of the machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// The program that carries out sessions [default: `autonoe` beside this one, or on PATH]
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) autonoe: Option<PathBuf>,
    /// Say only what goes wrong
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// What is handed on to `autonoe session-host`: `-- --backend codex`, for example
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) session_host: Vec<OsString>,
}

/// What else it does.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer `autonoe submit` and `autonoe engine`, over standard input and output
    Engine,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Args::command().debug_assert();
    }

    #[test]
    fn what_stands_after_two_dashes_is_for_the_program() {
        let args = Args::parse_from(["autonoe-worker", "--slots", "2", "--", "--backend", "codex"]);

        assert_eq!(args.session_host, ["--backend", "codex"]);
        assert_eq!(args.slots, Some(2));
    }

    #[test]
    fn the_server_of_an_engine_can_be_said_after_it() {
        let args = Args::parse_from(["autonoe-worker", "engine", "--config", "engine.json"]);

        assert!(matches!(args.command, Some(Command::Engine)));
        assert_eq!(args.config, Some(PathBuf::from("engine.json")));
    }
}
