//! `autonoe run` and `autonoe sync`.

use std::process::ExitCode;
use std::sync::Arc;

use autonoe_core::{
    ExitReason, Mode, Project, ProjectError, ProjectRun, RunControl, RunLock, RunReport,
};
use autonoe_harness::ProjectFiles;

use super::configuration::configuration_lines;
use super::dry_run::dry_run;
use super::interrupted_run::InterruptedRun;
use super::stage::Stage;
use crate::args::{RunArgs, SyncArgs, Work};
use crate::compose::{ChosenBackend, ModelsFile, sandbox_switch};
use crate::error::CliError;
use crate::exit_code;
use crate::present::{harmless_line, summary};
use crate::surroundings::Surroundings;

const STALLED_HINT: &str = "`autonoe log` shows what the sessions did; clarify SPEC.md or the instructions \
     and start again, or allow more sessions with --max-stalled-sessions (0 means no limit)";

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
    // Checked before the journal is read: a run that is still alive was not interrupted.
    if let Some(held) = RunLock::held(&project)? {
        return Err(ProjectError::Locked(held).into());
    }
    let backend = ChosenBackend::find(work.agent.backend.as_ref(), Some(&project))?;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let wanted = work.agent.wanted(surroundings);
    let built = backend.build(&project, work.mode, wanted, &models, surroundings)?;
    let mut stage = Stage::open(work.agent, work.output, &project, &models, surroundings);
    stage.warn_of(work.destructive, &built.warnings);
    if let Some(warning) = interrupted_run_warning(&project, work.mode) {
        stage.warn(&warning);
    }
    for line in configuration_lines(project.root(), &backend.choice, work.agent) {
        stage.say(&line);
    }
    let control = RunControl::new();
    let files = ProjectFiles::new(project.root());
    let journal = project.journal_path();
    let project_run = ProjectRun::new(project, built.agents)
        .mode(work.mode)
        .sandbox(sandbox_switch(work.agent.no_sandbox, surroundings))
        .destructive(work.destructive)
        .limits(work.agent.limits.given())
        .configure(stage.configuration(
            work.agent,
            built.outer_sandbox,
            built.missing_server,
            surroundings,
        ))
        .configure(move |runner| runner.workspace(Arc::new(files)));

    let report = stage.play(&control, project_run.run(&control))??;
    let told = stage.tell(&shown(&report), surroundings);
    told.map_err(|error| error.with_hint("the run is written down: `autonoe log` tells it"))?;
    if let Some(hint) = hint(&report.exit) {
        surroundings.note(&format!("  hint: {}", harmless_line(&hint)));
    }
    stage.print_denials(&journal, &report.run, surroundings);
    Ok(exit_code::of(&report.exit).into())
}

/// Returns what happens to the interrupted run or flow of the project, if there is one.
fn interrupted_run_warning(project: &Project, mode: Mode) -> Option<String> {
    let interrupted = InterruptedRun::find(project)?;
    Some(match interrupted.run(mode) {
        Some(recorded) => format!(
            "resuming the interrupted run {}; \
             limits that are not given now are those that it was started with",
            recorded.run()
        ),
        None => format!("{}; a new {mode} begins", interrupted.left_warning()),
    })
}

/// Writes what the run came to for people.
pub(super) fn shown(report: &RunReport) -> String {
    let [why, counts] = summary(report);
    format!("{why}\n{counts}\n")
}

/// Returns a hint for the operator about the end of a run, if there is one.
pub(super) fn hint(exit: &ExitReason) -> Option<String> {
    if let ExitReason::Stalled { .. } = exit {
        return Some(STALLED_HINT.to_owned());
    }
    let (ExitReason::Failed { error } | ExitReason::MaxRetriesExceeded { error }) = exit else {
        return None;
    };
    let remedy = error.remedy.as_ref()?;
    let flag = match error.code.as_str() {
        "sandbox_not_supported" => ", or run without the sandbox with --no-sandbox",
        _ => "",
    };
    Some(format!(
        "{remedy}{flag}; `autonoe doctor` checks whether a run can start"
    ))
}
