//! Command-line arguments.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_app::BackendChoice;
use autonoe_app::value_parsers::{cost, pause, thinking, time};
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::engine::{Placement, ProjectName};
use autonoe_core::run::{LimitOverrides, RunLimits};
use autonoe_core::{Budget, CostUsd, Mode, OnQuota, RunId};
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Runs Autonoe on several hosts, with a Temporal server.
///
/// Workers execute the sessions of runs in the projects of their host. Runs are submitted, watched
/// and controlled from any machine that reaches the server.
#[derive(Clone, Debug, Parser)]
#[command(name = "autonoe-cluster", version, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Execute the sessions of runs on this host
    Worker(Box<WorkerArgs>),
    /// Submit a run on a project, or a fleet from a roadmap
    Submit(Box<SubmitArgs>),
    /// Show the state of a run: phase, host, progress, cost and outcome
    Status {
        #[command(flatten)]
        run: RunArg,
        /// The format of the output
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        output: OutputFormat,
    },
    /// Print what happened in a run, from the journal on its host
    Logs(LogsArgs),
    /// Pause a run: the session in progress finishes, and no other starts
    Pause(RunArg),
    /// Resume a paused run
    Resume(RunArg),
    /// Send a message to the agent of a run, for its next session
    Send {
        #[command(flatten)]
        run: RunArg,
        /// The message
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Cancel a run and end everything that it started
    Cancel {
        #[command(flatten)]
        run: RunArg,
        /// The reason, which is recorded in the result
        #[arg(long, value_name = "TEXT", default_value = "requested by a user")]
        reason: String,
    },
    /// List runs, the newest first
    List {
        /// Maximum number of runs
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: usize,
        /// The format of the output
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        output: OutputFormat,
    },
    /// Connect an agent with the tools of its session; agents start this themselves
    #[command(hide = true)]
    Mcp {
        /// The address of the tools of the run, on this machine
        #[arg(long, value_name = "URL")]
        url: String,
    },
}

/// Options that locate the server.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// A JSON file with settings; options take precedence
    #[arg(long, value_name = "FILE", global = true, help_heading = "Server")]
    pub(crate) config: Option<PathBuf>,
    /// The address of the server [default: http://127.0.0.1:7233]
    #[arg(long, value_name = "URL", global = true, help_heading = "Server")]
    pub(crate) address: Option<String>,
    /// The namespace of the server [default: default]
    #[arg(long, value_name = "NAME", global = true, help_heading = "Server")]
    pub(crate) namespace: Option<String>,
    /// The queue that workers take runs from [default: autonoe]
    #[arg(long, value_name = "NAME", global = true, help_heading = "Server")]
    pub(crate) queue: Option<String>,
}

/// Options of `autonoe-cluster worker`, which are also fields of the settings file.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[command(after_help = "Exit codes: 0 stopped, 1 failure, 2 wrong usage.")]
pub(crate) struct WorkerArgs {
    /// Maximum number of concurrent sessions [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) slots: Option<u16>,
    /// The project root: the folder that contains the projects
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project_root: Option<PathBuf>,
    /// The prefix of Git repository URLs, before the name of the project and `.git`. With it,
    /// projects move between hosts as a branch
    #[arg(long, value_name = "URL")]
    pub(crate) remote_root: Option<String>,
    /// The name of this host, for `submit --host` [default: the host name of the machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// The branch that projects start from; only in the settings file
    #[arg(skip)]
    pub(crate) base_branch: Option<String>,
    /// Time that sessions continue after a stop signal; only in the settings file
    #[arg(skip)]
    pub(crate) shutdown_grace_secs: u64,
    /// Print only errors
    #[arg(long, short)]
    #[serde(skip)]
    pub(crate) quiet: bool,
    /// The backend, written as for `autonoe run` [default: the one of the project, else claude]
    #[arg(long, value_name = "BACKEND", help_heading = "Agent")]
    #[serde(deserialize_with = "deserialize_backend")]
    pub(crate) backend: Option<BackendChoice>,
    /// The model [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", help_heading = "Agent")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// The model for planning sessions [default: same as --model]
    #[arg(long, short = 'P', value_name = "MODEL", help_heading = "Agent")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) plan_model: Option<String>,
    /// Enable extended thinking with a budget of at least 1024 tokens [default: off; without a
    /// number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(value_parser = thinking, help_heading = "Agent")]
    pub(crate) thinking: Option<ThinkingBudget>,
    /// Allow `rm`, `mv` and `git` commands that discard work, such as `push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    pub(crate) allow_destructive: bool,
    /// Turn off the sandbox of agents, like AUTONOE_NO_SANDBOX=1
    #[arg(long, help_heading = "Safety")]
    pub(crate) no_sandbox: bool,
}

/// Parses a backend: a name as on the command line, or an object.
fn deserialize_backend<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BackendChoice>, D::Error> {
    let text = match Value::deserialize(deserializer)? {
        Value::String(name) => name,
        spec => spec.to_string(),
    };
    text.parse().map(Some).map_err(D::Error::custom)
}

const SUBMIT_HELP: &str = "Exit codes: 0 done, 1 failure, 2 wrong usage; with --wait also \
    3 all blocked, 4 iteration limit, 5 quota, 6 budget, 7 too many retries, 8 no progress, \
    130 cancelled.\n\n\
    Without --wait, the command ends when the cluster has accepted the run. Ctrl-C ends only the \
    wait, and the run continues.";

/// Options of `autonoe-cluster submit`.
///
/// The agent and its guards are options of the workers.
#[derive(Clone, Debug, Args)]
#[command(after_help = SUBMIT_HELP)]
pub(crate) struct SubmitArgs {
    /// The project: its path inside the project root of the workers
    #[arg(value_name = "PROJECT", value_parser = |name: &str| ProjectName::new(name))]
    #[arg(required_unless_present = "roadmap", conflicts_with = "roadmap")]
    pub(crate) project: Option<ProjectName>,
    /// Submit a fleet instead: each open task of this Markdown file is done on a branch of its own
    /// and merged
    #[arg(long, value_name = "FILE", requires = "repository")]
    #[arg(conflicts_with_all = ["host", "mode"], help_heading = "Fleet")]
    roadmap: Option<PathBuf>,
    /// The address of the Git repository of the fleet, below the remote root of the workers
    #[arg(long, value_name = "URL", help_heading = "Fleet")]
    #[arg(requires = "roadmap", conflicts_with = "project")]
    repository: Option<String>,
    /// Maximum number of members of the fleet at once [default: 10]
    #[arg(long, value_name = "N", help_heading = "Fleet")]
    #[arg(requires = "roadmap", conflicts_with = "project")]
    max_concurrent: Option<NonZeroUsize>,
    /// The ID of the run. If this run was submitted before, attach to it; a different run with this
    /// ID is an error [default: a new ID]
    #[arg(long, value_name = "ID", value_parser = run_id())]
    pub(crate) run: Option<RunId>,
    /// The only host that may execute the run [default: any]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The mode of the run
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    mode: ModeArg,
    /// Wait for the end, print what happens, and exit with the code of the run
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print only results and errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The format of results
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) output: OutputFormat,
}

impl SubmitArgs {
    /// Returns the options of a fleet, if one is to be submitted.
    pub(crate) fn fleet(&self) -> Option<FleetOptions<'_>> {
        Some(FleetOptions {
            roadmap: self.roadmap.as_deref()?,
            repository: self.repository.as_deref()?,
            max_concurrent: self.max_concurrent,
        })
    }

    /// Returns the limits of the run.
    pub(crate) fn limits(&self) -> RunLimits {
        let mode = match self.mode {
            ModeArg::Run => Mode::Run,
            ModeArg::Sync => Mode::Sync,
        };
        self.limits.overrides().apply_to(&RunLimits::new(mode))
    }

    pub(crate) fn placement(&self) -> Placement {
        match &self.host {
            Some(host) => Placement::on_host(host),
            None => Placement::anywhere(),
        }
    }
}

/// Options of a fleet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleetOptions<'a> {
    pub(crate) roadmap: &'a Path,
    pub(crate) repository: &'a str,
    pub(crate) max_concurrent: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// Agents work on the deliverables
    #[default]
    Run,
    /// Agents verify the code without changing it
    Sync,
}

/// The format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    #[default]
    Text,
    Json,
}

/// Limits of a run, as those of `autonoe run`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Maximum number of iterations. Sessions that hit the quota or were lost in a crash do not
    /// count. A resumed run counts its earlier iterations
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
    /// Stop after more than N failed sessions in a row; 0 means no retry [default: 3]
    #[arg(long, value_name = "N")]
    max_retries: Option<u32>,
    /// Stop after N sessions in a row without progress; 0 means no limit [default: 5]
    #[arg(long, value_name = "N")]
    max_stalled_sessions: Option<u32>,
    /// Maximum total cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    max_cost: Option<CostUsd>,
    /// Maximum time from now on, for example 90m, 2h30m or 45s
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_time: Option<Duration>,
    /// Pause between sessions, for example 0s or 1m [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = pause)]
    pause: Option<Duration>,
    /// Wait for the quota to reset instead of stopping
    #[arg(long)]
    wait_for_quota: bool,
}

impl LimitArgs {
    fn overrides(&self) -> LimitOverrides {
        LimitOverrides {
            max_iterations: self.max_iterations,
            max_retries: self.max_retries,
            max_stalled_sessions: self.max_stalled_sessions,
            on_quota: self.wait_for_quota.then_some(OnQuota::Wait),
            quota_backoff: None,
            pause: self.pause,
            budget: Budget {
                cost_usd: self.max_cost,
                time: self.max_time,
                ..Budget::default()
            },
        }
    }
}

/// The run that a command is about.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArg {
    /// The ID of the run, as printed by `autonoe-cluster submit`
    #[arg(id = "run", value_name = "RUN", value_parser = run_id())]
    pub(crate) id: RunId,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LogsArgs {
    #[command(flatten)]
    pub(crate) run: RunArg,
    /// Print new entries until the run ends or you press Ctrl-C
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// Print the entries of the journal as JSON, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Creates the parser of a run ID.
fn run_id() -> impl TypedValueParser<Value = RunId> {
    NonEmptyStringValueParser::new().try_map(RunId::parse)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(words: &[&str]) -> Result<Command, clap::Error> {
        let words = ["autonoe-cluster"].iter().chain(words);
        Ok(Cli::try_parse_from(words)?.command)
    }

    fn submit(words: &[&str]) -> Result<SubmitArgs, clap::Error> {
        match parse(&[&["submit"], words].concat())? {
            Command::Submit(args) => Ok(*args),
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_server_can_be_named_after_the_command() {
        let words = ["autonoe-cluster", "pause", "shop-1", "--config=c.json"];

        let cli = Cli::parse_from(words);

        assert_eq!(cli.server.config, Some(PathBuf::from("c.json")));
    }

    #[test]
    fn each_command_names_its_run() {
        for command in ["status", "logs", "pause", "resume", "cancel"] {
            assert!(parse(&[command, "shop-1"]).is_ok(), "{command}");
            assert!(parse(&[command]).is_err(), "{command}");
            assert!(parse(&[command, ""]).is_err(), "{command}");
        }
        assert!(parse(&["send", "shop-1", "Hello."]).is_ok());
        assert!(parse(&["send", "shop-1"]).is_err());
    }

    #[test]
    fn run_id_has_no_path_and_no_control_characters() {
        let longest = "x".repeat(RunId::MAX_LEN);
        for id in ["shop-1", "night.shop_1", "7", &longest] {
            assert!(parse(&["status", id]).is_ok(), "{id}");
        }

        for id in ["../x", ".a", "a b", "a\u{1b}[2J"] {
            let error = parse(&["status", "--", id]).expect_err("no id");

            assert_eq!(error.exit_code(), 2, "{id:?}");
            let words = error.to_string();
            assert!(words.contains("an id of a run has letters"), "{words}");
            assert!(submit(&["shop", &format!("--run={id}")]).is_err(), "{id:?}");
        }
    }

    #[test]
    fn fleet_needs_a_roadmap_and_a_repository_and_no_project() {
        let fleet = ["--roadmap=R.md", "--repository=/srv/git/shop.git"];
        let with = |more: &[&'static str]| submit(&[&fleet[..], more].concat());

        let args = with(&["--max-concurrent=3"]).expect("a fleet");

        let options = args.fleet().expect("it has both");
        assert_eq!(options.roadmap, Path::new("R.md"));
        assert_eq!(options.repository, "/srv/git/shop.git");
        assert_eq!(options.max_concurrent.map(NonZeroUsize::get), Some(3));
        for wrong in [
            with(&["shop"]),
            with(&["--host=a"]),
            with(&["--mode=sync"]),
            submit(&fleet[..1]),
            submit(&["shop", fleet[1]]),
            submit(&["shop", "--max-concurrent=3"]),
            submit(&[]),
        ] {
            assert!(wrong.is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn limits_default_to_those_of_any_run() {
        let plain = submit(&["team/shop"]).expect("right");
        let limited = submit(&[
            "shop",
            "--mode=sync",
            "-n",
            "7",
            "--pause",
            "0s",
            "--wait-for-quota",
        ]);

        let shop = ProjectName::new("team/shop").expect("a name");
        assert_eq!(plain.project.as_ref(), Some(&shop));
        assert!(plain.fleet().is_none());
        assert_eq!(plain.limits(), RunLimits::new(Mode::Run));
        let limits = limited.expect("right").limits();
        let expected = RunLimits {
            max_iterations: Some(7),
            pause: Duration::ZERO,
            on_quota: OnQuota::Wait,
            ..RunLimits::new(Mode::Sync)
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn host_option_places_the_run() {
        let anywhere = submit(&["shop"]).expect("right").placement();
        let there = submit(&["shop", "--host", "build-1"]);

        assert_eq!(anywhere, Placement::anywhere());
        assert_eq!(
            there.expect("right").placement(),
            Placement::on_host("build-1")
        );
    }

    #[test]
    fn a_path_out_of_the_projects_is_refused() {
        let error = submit(&["../shop"]).expect_err("no name");

        assert!(
            error.to_string().contains("not a valid project name"),
            "{error}"
        );
    }
}
