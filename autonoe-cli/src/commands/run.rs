//! `autonoe run` and `autonoe sync`: run agents on the deliverables.

use std::process::ExitCode;
use std::sync::Arc;

use autonoe_app::text::{exit_hint, report_text, sanitize_line};
use autonoe_app::{
    AlertSource, ChosenBackend, ModelsFile, RunAlerts, exit_code, load_config, sandbox_switch,
    without_keys,
};
use autonoe_core::project::{Journal, ProjectError, RunLock, Specification};
use autonoe_core::{Mode, Project, ProjectRun, RunControl};
use autonoe_harness::progress::ProjectFiles;

use super::configuration::configuration_lines;
use super::dry_run::dry_run;
use super::interrupted_run::InterruptedRun;
use super::notify::{reporting_errors, run_alerts};
use super::run_ui::RunUi;
use crate::args::{RunRequest, SyncArgs};
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Updates the deliverables to match the specification, and verifies the code.
pub(crate) fn sync(args: &SyncArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    if args.allow_destructive {
        return Err(CliError::usage(
            "a sync changes no files: --allow-destructive is for `autonoe run`",
        ));
    }
    run(&args.request(), env)
}

/// Runs agents on the deliverables, in the mode of the request, until there is nothing left to do.
pub(crate) fn run(work: &RunRequest<'_>, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = work.project.find(env)?;
    // Checked before the backend, so that a missing specification is reported first.
    let specification = project.specification()?;
    if work.dry_run {
        return dry_run(work, &project, env);
    }
    // A run in progress is reported before anything else is loaded, and without alerts.
    if let Some(held) = RunLock::held(&project)? {
        return Err(ProjectError::Locked(held).into());
    }
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let alerts = run_alerts(work.notify, AlertSource::Run, &project, &models, env)?;
    // The rest of the command does not need the signing keys of webhooks.
    let env = &env.with_env(without_keys(env));
    reporting_errors(alerts.as_ref(), env, || {
        run_project(work, project, specification, &models, alerts.clone(), env)
    })
}

fn run_project(
    work: &RunRequest<'_>,
    project: Project,
    specification: Specification,
    models: &ModelsFile,
    alerts: Option<Arc<RunAlerts>>,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let config = load_config(&project)?;
    let backend = ChosenBackend::select(work.agent.backend.as_ref(), &project, &config)?;
    let wanted = work.agent.requirements(env);
    let built = backend.build(&project, &config, work.mode, wanted, models, env)?;
    let mut run_ui = RunUi::open(work.agent, work.output, &project, models, env);
    run_ui.connect(&project);
    run_ui.notify(alerts);
    run_ui.print_warnings(work.destructive, &built.warnings);
    let (presenter, mode) = (run_ui.presenter(), work.mode);
    let lines = configuration_lines(project.root(), &backend.choice, work.agent);
    let control = RunControl::new();
    let files = ProjectFiles::new(project.root());
    let journal = project.journal_path();
    let project_run = ProjectRun::new(project, built.agents)
        .mode(mode)
        .sandbox(sandbox_switch(work.agent.no_sandbox, env))
        .destructive(work.destructive)
        .limits(work.agent.limits.overrides())
        .specification(specification)
        .config(config)
        .on_open(move |open| {
            if let Some(warning) = interrupted_run_warning(open.journal(), mode) {
                presenter.warn(&warning);
            }
            for line in &lines {
                presenter.print(line);
            }
        })
        .configure(run_ui.configuration(work.agent, built.outer_sandbox, built.missing_server, env))
        .configure(move |runner| runner.workspace(Arc::new(files)));

    let report = run_ui.run_interruptible(&control, project_run.run(&control))??;
    let printed = run_ui.print_result(&report_text(&report), env);
    printed.map_err(|error| error.with_hint("the run is recorded: run `autonoe log` to see it"))?;
    if let Some(hint) = exit_hint(&report.exit) {
        env.print_note(&format!("  hint: {}", sanitize_line(&hint)));
    }
    run_ui.print_denials(&journal, &report.run, env);
    Ok(exit_code::for_run(&report.exit).into())
}

/// Returns the warning about the interrupted run or flow in the journal, if there is one.
fn interrupted_run_warning(journal: &Journal, mode: Mode) -> Option<String> {
    let interrupted = InterruptedRun::from_journal(journal)?;
    Some(match interrupted.run(mode) {
        Some(recorded) => format!(
            "resuming the killed run {}; \
             limits that you do not pass keep their original values",
            recorded.run()
        ),
        None => format!("{}; starting a new {mode}", interrupted.left_warning()),
    })
}
