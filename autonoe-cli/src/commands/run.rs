//! `autonoe run` and `autonoe sync`.

use std::process::ExitCode;
use std::sync::Arc;

use autonoe_core::{
    Journal, Mode, OnQuota, Project, ProjectRun, RunControl, RunObserver, RunReport,
    SessionRunnerBuilder,
};

use super::dry_run::dry_run;
use super::signals;
use crate::args::{OutputArgs, OutputFormat, RunArgs, SyncArgs, Work};
use crate::compose::{misread_sandbox, sandbox_switch};
use crate::error::CliError;
use crate::exit_code;
use crate::present::{Detail, JsonLines, Presenter, QuietKeyboard, Screen, start_logging, summary};
use crate::surroundings::Surroundings;

/// Works on the deliverables until all of them pass.
pub(crate) fn run(args: &RunArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    work(&args.work(), surroundings)
}

/// Brings the deliverables in line with the specification, and verifies the code.
pub(crate) fn sync(args: &SyncArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    if args.allow_destructive {
        return Err(CliError::usage(
            "a sync changes no files: --allow-destructive is for `autonoe run`",
        ));
    }
    work(&args.work(), surroundings)
}

fn work(work: &Work<'_>, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = work.project.find(surroundings)?;
    // Looked for before the agent is: who has neither wants to hear of this first.
    project.specification()?;
    if work.dry_run {
        return dry_run(work, &project, surroundings);
    }
    let agents = work.agent.backend.build(&project, surroundings)?;
    let detail = detail(work.output);
    let screen = Screen::new(surroundings, detail != Detail::Quiet);
    start_logging(&screen, detail);
    let presenter = Arc::new(Presenter::new(screen.clone(), detail));
    let sandbox = sandbox_switch(work.agent.no_sandbox, surroundings);
    if let Some(warning) = sandbox.warning() {
        presenter.warn(warning);
    }
    if let Some(warning) = misread_sandbox(work.agent.no_sandbox, surroundings) {
        presenter.warn(&warning);
    }
    if goes_on(&project, work.mode) {
        presenter
            .warn("going on with a run that broke off, under the limits that it was started with");
    }
    let events = match work.output.output {
        OutputFormat::Json => Some(Arc::new(JsonLines::new(presenter.clone()))),
        OutputFormat::Text => None,
    };
    let mut observers: Vec<Arc<dyn RunObserver>> = vec![presenter.clone()];
    observers.extend(events.clone().map(|events| events as Arc<dyn RunObserver>));
    let control = RunControl::new();
    let project_run = ProjectRun::new(project, agents)
        .mode(work.mode)
        .sandbox(sandbox)
        .destructive(work.destructive)
        .configure(configuration(work, surroundings, observers));

    let _quiet = screen.has_transient().then(QuietKeyboard::begin);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
    let report = runtime.block_on(async {
        let watch = tokio::spawn(signals::watch(control.clone(), presenter));
        let report = project_run.start(&control).await;
        watch.abort();
        report
    });
    screen.clear();
    let report = report?;
    let told = match events {
        // The last event has the report.
        Some(events) => events.end(),
        None => surroundings.say(&shown(&report)),
    };
    told.map_err(|error| error.with_hint("the run is written down: `autonoe log` tells it"))?;
    Ok(exit_code::of(&report.exit).into())
}

/// Tells whether there is a run that broke off, and that will be gone on with.
fn goes_on(project: &Project, mode: Mode) -> bool {
    let journal = Journal::read(&project.journal_path()).ok();
    let broken_off = journal.and_then(|journal| journal.broken_off());
    broken_off.is_some_and(|recorded| recorded.mode() == mode)
}

fn detail(output: &OutputArgs) -> Detail {
    match (output.quiet, output.debug) {
        (true, _) => Detail::Quiet,
        (false, true) => Detail::Debug,
        (false, false) => Detail::Normal,
    }
}

/// Says all that the command line says about the run itself.
fn configuration(
    work: &Work<'_>,
    surroundings: &Surroundings,
    observers: Vec<Arc<dyn RunObserver>>,
) -> impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static {
    let agent = work.agent.clone();
    let home = surroundings.home();
    move |mut runner| {
        runner = runner
            .max_retries(agent.max_retries)
            .models(agent.models())
            .budget(agent.budget());
        if let Some(max) = agent.max_iterations {
            runner = runner.max_iterations(max);
        }
        if let Some(thinking) = agent.thinking {
            runner = runner.thinking(thinking);
        }
        if let Some(pause) = agent.pause {
            runner = runner.pause_between_sessions(pause);
        }
        if agent.wait_for_quota {
            runner = runner.on_quota(OnQuota::Wait);
        }
        if let Some(home) = home {
            runner = runner.home(home);
        }
        observers
            .into_iter()
            .fold(runner, SessionRunnerBuilder::observer)
    }
}

/// Writes what the run came to for people.
fn shown(report: &RunReport) -> String {
    let [why, counts] = summary(report);
    format!("{why}\n{counts}\n")
}
