//! `autonoe harness run`: runs a fleet, or resumes an interrupted one.

mod alerts;
mod backends;
mod display;
mod order;
mod outcome;
mod programs;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use autonoe_app::telemetry::{Telemetry, parent_trace};
use autonoe_app::text::sanitize_line;
use autonoe_app::{
    AlertSource, ModelsFile, Notifications, criteria_sandbox, exit_code, this_program, without_keys,
};
use autonoe_core::engine::RunSpec;
use autonoe_core::project::{ProjectError, RunLock};
use autonoe_core::time::{RandomIds, format_time};
use autonoe_core::{Project, RunControl};
use autonoe_harness::alert::{Alert, Severity};
use autonoe_harness::coordinate::MemberJob;
use autonoe_harness::isolation::Git;
use autonoe_harness::{
    FleetHome, FleetOrder, FleetReport, FleetRun, FleetRunError, FleetSpans, MemberCommand,
    MemberManager, Roadmap,
};
use jiff::Timestamp;

use self::alerts::AlertFollower;
use self::backends::Backends;
use self::display::FleetDisplay;
pub(in crate::commands) use self::outcome::HarnessOutcome;
use self::outcome::{fleet_exit_code, format_outcome};
use super::executor_factory::ExecutorFactory;
use super::fleet_selection::{check_no_orphans, fleet_home, git};
use crate::args::HarnessRunArgs;
use crate::cli_env::CliEnv;
use crate::commands::notify::{deliver_now, notifications};
use crate::commands::runtime::{block_on, runtime};
use crate::commands::signals;
use crate::error::{CliError, OrFailure, error_chain};

/// Poll interval while processes of members shut down.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time limit of git.
const GIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Time limit for members to shut down: longer than their own.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);

/// Runs a fleet on the tasks of a roadmap, or resumes an interrupted one.
pub(super) fn run(args: &HarnessRunArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let roadmap = order::read(&args.roadmap, env)?;
    let mut warnings = order::roadmap_warnings(&args.roadmap, &roadmap);
    warnings.extend(programs::check(&args.roadmap, &roadmap, env)?);
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let source = AlertSource::Fleet;
    let notifications = notifications(&args.notify, source, &project, &models, env)?;
    let notifications = Arc::new(notifications);
    // The rest of the command does not need the signing keys of webhooks.
    let env = &env.with_env(without_keys(env));
    let prepared = Prepared {
        project,
        roadmap,
        models,
        warnings,
        notifications: notifications.clone(),
    };
    match run_fleet(args, prepared, env) {
        Ok(FleetEnd::Detached { fleet }) => Ok(leave_fleet(args, &fleet, env)),
        Ok(FleetEnd::Ended {
            home,
            fleet,
            report,
            ended_at,
        }) => {
            if let Some(at) = ended_at.filter(|_| !args.quiet) {
                env.print_note(&format!(
                    "the fleet {fleet} ended at {}, and nothing was run now; to run the roadmap \
                     again, choose another name with --name",
                    format_time(at)
                ));
            }
            print_outcome(args, &home, &fleet, &report, env)
        }
        Err(error) => {
            if !notifications.is_empty() {
                let text = format!("the fleet cannot run: {error}");
                notifications.send(Alert::new(
                    "failed",
                    Severity::Error,
                    text,
                    Timestamp::now(),
                ));
                deliver_now(&notifications, env);
            }
            Err(error)
        }
    }
}

/// Inputs of a fleet, besides the options of the command.
struct Prepared {
    project: Project,
    roadmap: Roadmap,
    models: ModelsFile,
    warnings: Vec<String>,
    notifications: Arc<Notifications>,
}

/// The end of the command's work on a fleet.
enum FleetEnd {
    Ended {
        home: FleetHome,
        fleet: String,
        report: Box<FleetReport>,
        /// The end of a fleet that was not run again.
        ended_at: Option<Timestamp>,
    },
    /// The operator has left the fleet.
    Detached { fleet: String },
}

fn run_fleet(
    args: &HarnessRunArgs,
    prepared: Prepared,
    env: &CliEnv,
) -> Result<FleetEnd, CliError> {
    let Prepared {
        project,
        roadmap,
        models,
        mut warnings,
        notifications,
    } = prepared;
    let home = fleet_home(&project);
    let fleet = order::fleet_name(args)?;
    // A `.harness` that cannot be used is reported before a missing backend.
    block_on(check_no_orphans(&home, Some(&fleet)))?;
    let backends = Backends::find(args, &roadmap, &project, env)?;
    let mut order = order::order(args, &fleet, &roadmap, &backends)?;
    order.roadmap = Some(order::roadmap_path(&args.roadmap, &project, env));
    warnings.extend(order::rename_warnings(&order));
    warnings.extend(order::candidate_warnings(&*order.strategy, &roadmap));
    warnings.extend(order::vote_warning(&args.strategy, &roadmap));
    let agent = args.agent();
    let switch = agent.sandbox(env);
    let mut executor_factory = ExecutorFactory::load(&project, models, agent.clone(), env)?;
    warnings.extend(backends.add_to(&mut executor_factory, &project)?);
    let models = executor_factory.models();
    if has_commands(&order) {
        criteria_sandbox(project.root(), &models, switch, env)?;
    }
    let _lock = lock_project(args, &project)?;
    let ended_at = block_on(async {
        let recorded = home.fleet(&fleet).await;
        let recorded = recorded.or_failure()?;
        Ok(recorded.and_then(|it| it.result.map(|_| it.updated_at)))
    })?;
    let trace = parent_trace(env);
    let telemetry = Telemetry::start(&models, project.root(), env, trace.as_ref(), None)
        .unwrap_or_else(|error| {
            warnings.push(format!("telemetry is off: {error}"));
            Telemetry::default()
        });
    warnings.extend_from_slice(telemetry.warnings());
    executor_factory.set_telemetry(telemetry.sessions());
    let ids = RandomIds::new().or_failure()?;
    let spans = Arc::new(FleetSpans::new(ids, trace));
    let settings = backends.settings(&agent);
    let (member_env, member_spans) = (env.clone(), spans.clone());
    let program =
        this_program().ok_or_else(|| CliError::failure("the path of this program is unknown"))?;
    let program = MemberCommand::new(program)
        .args(["harness", "work"])
        .env_for(move |order| {
            let mut environment =
                backends.member_environment(order, &settings, &models, &member_env);
            trace_member(&mut environment, order, &member_spans);
            environment
        });

    if !args.no_worktrees && ended_at.is_none() {
        warnings.extend(block_on(async { Ok(dirty_warning(&home, env).await) })?);
    }
    let mut display = FleetDisplay::open(args, &home, &fleet, telemetry.spans(), env);
    display.print_warnings(switch, agent.destructive(), &warnings);
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let manager = Arc::new(MemberManager::new(home.path(), program));
        let mut run = FleetRun::new(home.clone(), order, manager)
            .observer(display.lines())
            .spans(spans.clone())
            .verification_executors(move |folder| {
                executor_factory.executors(folder, Some(&spans.fleet()))
            });
        if let Some(meters) = telemetry.fleet_meters() {
            run = run.observer(meters);
        }
        if !args.no_worktrees {
            let trees = home.worktrees(&fleet, git(&home, env)).await;
            run = run.worktrees(trees.map_err(|error| isolation_error(&error))?);
        }
        let mut following = AlertFollower::start(&home, &fleet, notifications, display.lines())?;
        let control = RunControl::new();
        let ended = tokio::select! {
            biased;
            ended = run.run(&control) => Some(ended),
            () = display.show() => None,
            () = following.follow() => None,
        };
        if ended.is_some() {
            // The last events are still printed, unless the operator interrupts.
            tokio::select! {
                () = following.finish() => {}
                () = signals::wait_for_stop() => {}
            }
        }
        Ok::<_, CliError>(ended)
    });
    // Dropping the runtime drops the supervisors of members, which ends their processes.
    drop(runtime);
    display.close();
    if let Some(warning) = telemetry.finish() {
        display.warn(&warning);
    }
    let Some(ended) = ended? else {
        return Ok(FleetEnd::Detached { fleet });
    };
    let report = ended.map_err(|error| run_error(&error))?;
    Ok(FleetEnd::Ended {
        home,
        fleet,
        report: Box::new(report),
        ended_at,
    })
}

/// Returns a warning about uncommitted changes of the project. Without a repository, the run
/// itself fails.
async fn dirty_warning(home: &FleetHome, env: &CliEnv) -> Option<String> {
    let git = Git::new(git(home, env), GIT_TIMEOUT);
    let arguments = ["status", "--porcelain", "-z", "--no-renames", "."];
    let changes = git.run_ok(home.project(), &arguments).await.ok()?;
    let files: Vec<_> = changes
        .split('\0')
        .filter_map(|change| change.get(3..))
        .collect();
    let (first, more) = (sanitize_line(files.first()?), files.len() - 1);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "the project has uncommitted changes ({first}{more}); members do not see them, and work on \
         the same files cannot be merged: commit or stash them first"
    ))
}

/// Adds the spans of a member's process to the trace of the fleet.
fn trace_member(
    environment: &mut BTreeMap<OsString, OsString>,
    order: &RunSpec,
    spans: &FleetSpans,
) {
    // These belong to the process that started this command.
    environment.remove(OsStr::new("TRACEPARENT"));
    environment.remove(OsStr::new("TRACESTATE"));
    if let Ok(job) = MemberJob::from_run(order) {
        let context = spans.member(&job.member);
        let variables = context.environment();
        environment.extend(variables.map(|(name, value)| (name.into(), value.into())));
    }
}

/// Waits until the processes of members have ended, and prints how to resume the fleet.
fn leave_fleet(args: &HarnessRunArgs, fleet: &str, env: &CliEnv) -> ExitCode {
    let ended = std::thread::spawn(|| autonoe_process::wait_for_shutdowns(SHUTDOWN_TIMEOUT));
    // Another interrupt ends the wait.
    let waiting = runtime().map(|runtime| {
        runtime.block_on(async {
            while !ended.is_finished() {
                tokio::select! {
                    () = signals::wait_for_stop() => signals::exit_immediately(),
                    () = tokio::time::sleep(POLL_INTERVAL) => {}
                }
            }
        });
    });
    drop(waiting);
    let remaining = ended.join().unwrap_or_default();
    if remaining > 0 {
        env.print_note(&format!("warning: {remaining} processes are still running"));
    }
    if !args.quiet {
        env.print_note(&format!(
            "the fleet {fleet} was cancelled; run the same command to resume it, or `autonoe \
             harness stop` to end it"
        ));
    }
    exit_code::INTERRUPTED.into()
}

fn print_outcome(
    args: &HarnessRunArgs,
    home: &FleetHome,
    fleet: &str,
    outcome: &FleetReport,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let result = HarnessOutcome::new(fleet, outcome);
    let printed = env.print_as(args.json, &result, |_| {
        format_outcome(home, fleet, outcome, env.columns)
    });
    printed.map_err(|error| {
        error.with_hint("the result is recorded: run `autonoe harness status` to see it")
    })?;
    Ok(fleet_exit_code(outcome).into())
}

/// Locks the project if members work in it directly, so that no run works there too.
fn lock_project(args: &HarnessRunArgs, project: &Project) -> Result<Option<RunLock>, CliError> {
    if !args.no_worktrees {
        return Ok(None);
    }
    if let Some(held) = RunLock::held(project)? {
        return Err(ProjectError::Locked(held).into());
    }
    Ok(Some(RunLock::acquire(project, Timestamp::now())?))
}

/// Returns whether a criterion of a task may run a command.
fn has_commands(order: &FleetOrder) -> bool {
    let mut tasks = order.members.iter().flat_map(|member| &member.work.tasks);
    // An agent judges criteria that are text.
    tasks.any(|planned| {
        let criteria = serde_json::to_value(&planned.task.success_criteria);
        criteria.is_ok_and(|criteria| !criteria.is_null() && !criteria.is_string())
    })
}

fn isolation_error(error: &autonoe_harness::isolation::IsolationError) -> CliError {
    let cli_error = CliError::failure(error_chain(error));
    match error {
        autonoe_harness::isolation::IsolationError::NoRepository { .. } => cli_error.with_hint(
            "run `git init` and commit the files, or let all members work in this folder with \
             --no-worktrees",
        ),
        autonoe_harness::isolation::IsolationError::NoBranch { .. } => cli_error.with_hint(
            "commit the files, or let all members work in this folder with --no-worktrees",
        ),
        autonoe_harness::isolation::IsolationError::Detached { .. } => {
            cli_error.with_hint("use `git switch` to check out the branch to merge into")
        }
        autonoe_harness::isolation::IsolationError::Ignored { .. } => cli_error.with_hint(
            "work in an ignored folder is not merged: remove the folder from .gitignore, or use \
             --no-worktrees",
        ),
        _ => cli_error,
    }
}

/// Converts the error of a fleet that could not run.
fn run_error(error: &FleetRunError) -> CliError {
    let cli_error = CliError::failure(error_chain(error));
    match error {
        FleetRunError::Isolation(error) => isolation_error(error),
        FleetRunError::AlreadyLed { fleet, .. } => cli_error.with_hint(format!(
            "watch it with `autonoe harness status {fleet}` or `autonoe harness serve`"
        )),
        FleetRunError::OrderConflict { .. } => cli_error.with_hint(
            "choose another name with --name, or repeat the original options and roadmap",
        ),
        _ => cli_error,
    }
}
