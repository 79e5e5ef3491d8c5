//! `autonoe run` and `autonoe sync`.

use std::process::ExitCode;
use std::sync::Arc;

use autonoe_core::{
    ExitReason, Journal, Mode, Project, ProjectRun, RunControl, RunObserver, RunReport,
    SessionRunnerBuilder, TraceContent, TraceContext,
};
use autonoe_mcp::HttpToolServer;

use super::dry_run::dry_run;
use super::signals;
use crate::args::{OutputArgs, OutputFormat, RunArgs, SyncArgs, Work};
use crate::compose::{ModelsFile, misread_sandbox, sandbox_switch};
use crate::error::CliError;
use crate::exit_code;
use crate::present::{
    Detail, JsonLines, Presenter, QuietKeyboard, Screen, harmless_line, start_logging, summary,
};
use crate::surroundings::Surroundings;
use crate::telemetry::{Telemetry, incoming_trace};

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
    let model = work.agent.model.as_deref();
    let backend = &work.agent.backend;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let built = backend.build(&project, work.mode, model, surroundings)?;
    let detail = detail(work.output);
    let screen = Screen::new(surroundings, detail != Detail::Quiet);
    let presenter = Arc::new(Presenter::new(screen.clone(), detail));
    let trace = incoming_trace(surroundings);
    let section = &models.telemetry;
    let telemetry = Telemetry::start(section, project.root(), surroundings, trace.as_ref());
    let telemetry = telemetry.unwrap_or_else(|error| {
        presenter.warn(&format!("nothing is exported as telemetry: {error}"));
        Telemetry::default()
    });
    start_logging(&screen, detail, telemetry.spans());
    let sandbox = sandbox_switch(work.agent.no_sandbox, surroundings);
    if let Some(warning) = sandbox.warning() {
        presenter.warn(warning);
    }
    if let Some(warning) = misread_sandbox(work.agent.no_sandbox, surroundings) {
        presenter.warn(&warning);
    }
    for warning in built.warnings.iter().chain(telemetry.announced()) {
        presenter.warn(warning);
    }
    if let Some(warning) = about_what_broke_off(&project, work.mode) {
        presenter.warn(&warning);
    }
    let events = match work.output.output {
        OutputFormat::Json => Some(Arc::new(JsonLines::new(presenter.clone()))),
        OutputFormat::Text => None,
    };
    let mut observers: Vec<Arc<dyn RunObserver>> = vec![presenter.clone()];
    observers.extend(events.clone().map(|events| events as Arc<dyn RunObserver>));
    observers.extend(telemetry.meters());
    let traced = (trace, telemetry.content());
    let control = RunControl::new();
    let project_run = ProjectRun::new(project, built.agents)
        .mode(work.mode)
        .sandbox(sandbox)
        .destructive(work.destructive)
        .limits(work.agent.limits())
        .configure(configuration(work, surroundings, observers, traced));

    let _quiet = screen.has_transient().then(QuietKeyboard::begin);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
    let report = runtime.block_on(async {
        let watch = tokio::spawn(signals::watch(control.clone(), presenter.clone()));
        let report = project_run.start(&control).await;
        watch.abort();
        report
    });
    screen.clear();
    if let Some(warning) = telemetry.finish() {
        presenter.warn(&warning);
    }
    let report = report?;
    let told = match events {
        // The last event has the report.
        Some(events) => events.end(),
        None => surroundings.say(&shown(&report)),
    };
    told.map_err(|error| error.with_hint("the run is written down: `autonoe log` tells it"))?;
    if let Some(hint) = hint(&report.exit) {
        surroundings.note(&format!("  hint: {}", harmless_line(&hint)));
    }
    Ok(exit_code::of(&report.exit).into())
}

/// Says what becomes of a run that broke off here, if one did.
fn about_what_broke_off(project: &Project, mode: Mode) -> Option<String> {
    let journal = Journal::read(&project.journal_path()).ok()?;
    let recorded = journal.broken_off()?;
    let (run, broke_off) = (recorded.run(), recorded.mode());
    Some(match broke_off == mode {
        true => format!(
            "going on with a run that broke off, {run}; \
             limits that are not given now are those that it was started with"
        ),
        false => {
            format!("a {broke_off} that broke off, {run}, is left as it is; a new {mode} begins")
        }
    })
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
    (trace, content): (Option<TraceContext>, TraceContent),
) -> impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static {
    let agent = work.agent.clone();
    let home = surroundings.home();
    move |mut runner| {
        runner = runner.models(agent.models()).trace_content(content);
        // Only for backends that cannot host our tools themselves; no port is open before one does.
        runner = runner.tool_server(Arc::new(HttpToolServer::new()));
        if let Some(parent) = trace {
            runner = runner.trace(parent);
        }
        if let Some(thinking) = agent.thinking {
            runner = runner.thinking(thinking);
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

/// Returns what a person can do about the end of a run, if whoever failed said so.
fn hint(exit: &ExitReason) -> Option<String> {
    let (ExitReason::Failed { error } | ExitReason::MaxRetriesExceeded { error }) = exit else {
        return None;
    };
    let remedy = error.remedy.as_ref()?;
    Some(format!(
        "{remedy}; `autonoe doctor` looks whether a run could start then"
    ))
}
