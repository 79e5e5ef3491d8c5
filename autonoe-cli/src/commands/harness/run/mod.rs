//! `autonoe harness run`.

mod alerts;
mod backends;
mod order;
mod outcome;
mod programs;
mod showing;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Project, ProjectError, RandomIds, RunControl, RunLock, RunSpec};
use autonoe_harness::{
    FleetHome, FleetOrder, FleetOutcome, FleetRun, FleetRunError, FleetSpans, HarnessManager,
    MemberJob, SubHarnessProgram,
};
use jiff::Timestamp;

use self::alerts::Following;
use self::backends::Backends;
pub(in crate::commands) use self::outcome::HarnessOutcome;
use self::outcome::{code, shown};
use self::showing::Showing;
use super::git::git;
use super::which::home_of;
use super::workshop::{Rules, Workshop};
use super::{broken, runtime};
use crate::args::HarnessRunArgs;
use crate::commands::signals;
use crate::compose::{AlertWebhook, ModelsFile, criteria_sandbox, sandbox_switch, without_keys};
use crate::error::{CliError, whole};
use crate::exit_code;
use crate::surroundings::{Surroundings, this_program};
use crate::telemetry::{Telemetry, incoming_trace};

/// How often it is looked whether they have.
const SOON: Duration = Duration::from_millis(20);

/// How long sub-harnesses have to let go of their work: longer than their own patience.
const LEAVE: Duration = Duration::from_secs(20);

/// Has many agents do the tasks of a roadmap, or resumes an interrupted fleet.
pub(super) fn run(
    args: &HarnessRunArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let roadmap = order::read(&args.roadmap, surroundings)?;
    let mut warnings = order::roadmap_warnings(&args.roadmap, &roadmap);
    warnings.extend(programs::check(&args.roadmap, &roadmap, surroundings)?);
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let webhook = webhook(args, &project, &models, surroundings)?;
    // From here on nobody needs the keys of webhooks.
    let surroundings = &without_keys(surroundings);
    let backends = Backends::find(args, &roadmap, &project, surroundings)?;
    let order = order::order(args, &roadmap, &backends)?.from_roadmap(order::place_of(
        &args.roadmap,
        &project,
        surroundings,
    ));
    warnings.extend(order::renamed(&order));
    let rules = Rules {
        switch: sandbox_switch(args.no_sandbox, surroundings),
        destructive: args.destructive(),
        thinking: args.thinking,
    };
    let mut workshop = Workshop::of(&project, models, rules, surroundings)?;
    warnings.extend(backends.put_into(&mut workshop, &project)?);
    let models = workshop.models();
    if has_commands(&order) {
        criteria_sandbox(project.root(), &models, rules.switch, surroundings)?;
    }
    let _lock = alone(args, &project)?;
    let home = home_of(&project);
    let fleet = order.name.clone();
    let trace = incoming_trace(surroundings);
    let telemetry = Telemetry::start(
        &models.telemetry,
        project.root(),
        surroundings,
        trace.as_ref(),
        None,
    );
    let telemetry = telemetry.unwrap_or_else(|error| {
        warnings.push(format!("nothing is exported as telemetry: {error}"));
        Telemetry::default()
    });
    warnings.extend_from_slice(telemetry.announced());
    workshop.telemetry(telemetry.sessions());
    let ids = RandomIds::new().map_err(|error| CliError::failure(whole(&error)))?;
    let spans = Arc::new(FleetSpans::new(ids, trace));
    let settings = backends.settings(args);
    let (around, member_spans) = (surroundings.clone(), spans.clone());
    let program = this_program()
        .ok_or_else(|| CliError::failure("it cannot be told where this program is"))?;
    let program = SubHarnessProgram::new(program)
        .args(["harness", "work"])
        .env_for(move |order| {
            let mut environment = backends.environment_of(order, &settings, &models, &around);
            trace_member(&mut environment, order, &member_spans);
            environment
        });

    let mut showing = Showing::open(args, &home, &fleet, telemetry.spans(), surroundings);
    showing.warn_of(rules.switch, rules.destructive, &warnings);
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let manager = Arc::new(HarnessManager::new(home.path(), program));
        let mut run = FleetRun::new(home.clone(), order, manager)
            .observer(showing.lines())
            .spans(spans.clone())
            .checked_by(move |folder| workshop.executors(folder, Some(&spans.fleet())));
        if let Some(meters) = telemetry.fleet_meters() {
            run = run.observer(meters);
        }
        if !args.no_worktrees {
            let trees = home.worktrees(&fleet, git(&home, surroundings)).await;
            run = run.worktrees(trees.map_err(|error| not_isolated(&error))?);
        }
        let mut following = Following::begin(&home, &fleet, webhook, showing.lines())?;
        let control = RunControl::new();
        let ended = tokio::select! {
            biased;
            ended = run.run(&control) => Some(ended),
            () = showing.show() => None,
            () = following.follow() => None,
        };
        if ended.is_some() {
            // The last events are printed, too, unless the operator interrupts.
            tokio::select! {
                () = following.finish() => {}
                () = signals::asked() => {}
            }
        }
        Ok::<_, CliError>(ended)
    });
    // With the runtime go those who look after sub-harnesses, and with them the processes.
    drop(runtime);
    showing.close();
    if let Some(warning) = telemetry.finish() {
        showing.warn(&warning);
    }
    let Some(ended) = ended? else {
        return Ok(left(args, &fleet, surroundings));
    };
    let outcome = ended.map_err(|error| not_run(&error))?;
    tell(args, &home, &fleet, &outcome, surroundings)
}

/// Makes the spans of the process of a member part of the trace of the fleet.
fn trace_member(
    environment: &mut BTreeMap<OsString, OsString>,
    order: &RunSpec,
    spans: &FleetSpans,
) {
    // Those are of the process that started this command.
    environment.remove(OsStr::new("TRACEPARENT"));
    environment.remove(OsStr::new("TRACESTATE"));
    if let Ok(job) = MemberJob::of(order) {
        let context = spans.member(&job.member);
        let variables = context.environment();
        environment.extend(variables.map(|(name, value)| (name.into(), value.into())));
    }
}

/// Waits until sub-harnesses have let go, and says how to go on.
fn left(args: &HarnessRunArgs, fleet: &str, surroundings: &Surroundings) -> ExitCode {
    let ended = std::thread::spawn(|| autonoe_process::wait_for_shut_downs(LEAVE));
    // Who does not want to wait interrupts again.
    let waiting = runtime().map(|runtime| {
        runtime.block_on(async {
            while !ended.is_finished() {
                tokio::select! {
                    () = signals::asked() => signals::at_once(),
                    () = tokio::time::sleep(SOON) => {}
                }
            }
        });
    });
    drop(waiting);
    let living = ended.join().unwrap_or_default();
    if living > 0 {
        surroundings.note(&format!("warning: {living} processes do not end"));
    }
    if !args.quiet {
        surroundings.note(&format!(
            "the fleet {fleet} was left as it is; the same command resumes it, \
             and `autonoe harness stop` ends it for good"
        ));
    }
    exit_code::INTERRUPTED.into()
}

fn tell(
    args: &HarnessRunArgs,
    home: &FleetHome,
    fleet: &str,
    outcome: &FleetOutcome,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let told = match args.json {
        true => surroundings.say_json(&HarnessOutcome::of(fleet, outcome)),
        false => surroundings.say(&shown(home, fleet, outcome, surroundings.columns)),
    };
    told.map_err(|error| error.with_hint("it is written down: `autonoe harness status` tells it"))?;
    Ok(code(outcome).into())
}

/// Sees to it that no run works in the folder in which members are to work, too.
fn alone(args: &HarnessRunArgs, project: &Project) -> Result<Option<RunLock>, CliError> {
    if !args.no_worktrees {
        return Ok(None);
    }
    if let Some(held) = RunLock::held(project)? {
        return Err(ProjectError::Locked(held).into());
    }
    Ok(Some(RunLock::acquire(project, Timestamp::now())?))
}

fn webhook(
    args: &HarnessRunArgs,
    project: &Project,
    models: &ModelsFile,
    surroundings: &Surroundings,
) -> Result<Option<AlertWebhook>, CliError> {
    let Some(address) = &args.webhook else {
        return Ok(None);
    };
    let key = args.webhook_key.as_deref();
    AlertWebhook::find(address, key, project, models, surroundings).map(Some)
}

/// Tells whether a criterion of a task may run a command.
fn has_commands(order: &FleetOrder) -> bool {
    let mut tasks = order.members.iter().flat_map(|member| &member.work.tasks);
    // Those in words are judged by an agent.
    tasks.any(|planned| {
        let criteria = serde_json::to_value(&planned.task.success_criteria);
        criteria.is_ok_and(|criteria| !criteria.is_null() && !criteria.is_string())
    })
}

fn not_isolated(error: &autonoe_harness::IsolationError) -> CliError {
    let told = CliError::failure(whole(error));
    match error {
        autonoe_harness::IsolationError::NoRepository { .. } => told.with_hint(
            "`git init` and commit what is there, or let all members work in this folder with \
             --no-worktrees",
        ),
        autonoe_harness::IsolationError::NoBranch { .. } => told.with_hint(
            "commit what is there, or let all members work in this folder with --no-worktrees",
        ),
        autonoe_harness::IsolationError::Detached { .. } => {
            told.with_hint("`git switch` to the branch that the work is to be merged into")
        }
        autonoe_harness::IsolationError::Ignored { .. } => told.with_hint(
            "nothing that is done there would be merged: take it out of .gitignore, or use \
             --no-worktrees",
        ),
        _ => told,
    }
}

/// Says why a fleet could not be run.
fn not_run(error: &FleetRunError) -> CliError {
    let told = broken(error);
    match error {
        FleetRunError::Isolation(error) => not_isolated(error),
        FleetRunError::Led { fleet, .. } => told.with_hint(format!(
            "`autonoe harness status {fleet}` shows it, and `autonoe harness serve` too"
        )),
        FleetRunError::AnotherOrder { .. } => {
            told.with_hint("name this one with --name, or give the same options and roadmap again")
        }
        _ => told,
    }
}
