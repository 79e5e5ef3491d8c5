//! `autonoe run` and `autonoe sync`: run agents on the deliverables, or resume an interrupted run.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use autonoe_app::text::{exit_hint, flows_dir, report_text, sanitize_line};
use autonoe_app::{
    AgentOptions, AlertSource, BackendChoice, ModelsFile, RunAlerts, exit_code, without_keys,
};
use autonoe_core::project::{Journal, ProjectError, RunLock, Specification};
use autonoe_core::run::{LimitOverrides, RecordedRun, RunLimits};
use autonoe_core::session::RecordedFlow;
use autonoe_core::{Mode, Project, ProjectRun, RunControl};
use autonoe_harness::progress::ProjectFiles;

use super::dry_run::{dry_run, limits_in_force};
use super::notify::{report_error, run_alerts};
use super::run_ui::RunUi;
use crate::args::RunArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Runs agents on the deliverables in this mode, until there is nothing left to do.
pub(crate) fn run(mode: Mode, args: &RunArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    if mode == Mode::Sync && args.agent.allow_destructive {
        return Err(CliError::usage(
            "a sync changes no files: --allow-destructive is for `autonoe run`",
        ));
    }
    let project = args.project.find(env)?;
    // Checked before the backend, so that a missing specification is reported first.
    let specification = project.specification()?;
    if args.dry_run {
        return dry_run(mode, args, &project, env);
    }
    // A run in progress is reported before anything else is loaded, and without alerts.
    if let Some(held) = RunLock::held(&project)? {
        return Err(ProjectError::Locked(held).into());
    }
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let alerts = run_alerts(&args.notify, AlertSource::Run, &project, &models, env)?;
    // The rest of the command does not need the signing keys of webhooks.
    let env = &env.with_env(without_keys(env));
    let done = run_project(
        mode,
        args,
        &project,
        specification,
        &models,
        alerts.clone(),
        env,
    );
    report_error(&done, alerts.as_ref(), env);
    done
}

fn run_project(
    mode: Mode,
    args: &RunArgs,
    project: &Project,
    specification: Specification,
    models: &ModelsFile,
    alerts: Option<Arc<RunAlerts>>,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let (agent, limits) = (args.agent.options(), args.agent.limits.overrides());
    let composed = agent.compose(project, mode, models, env)?;
    let mut run_ui = RunUi::open(&agent, &args.output, project, models, env);
    run_ui.connect(project);
    run_ui.notify(alerts);
    run_ui.print_warnings(agent.destructive(), &composed.warnings);
    let presenter = run_ui.presenter();
    let lines = configuration_lines(project.root(), &composed.backend, &agent);
    let overrides = limits.clone();
    let control = RunControl::new();
    let files = ProjectFiles::new(project.root());
    let project_run = ProjectRun::new(composed.project, composed.agents)
        .limits(limits)
        .specification(specification)
        .on_open(move |open| {
            let interrupted = InterruptedRun::from_journal(open.journal());
            if let Some(interrupted) = &interrupted {
                presenter.warn(&interrupted_run_warning(interrupted, mode));
            }
            let resumed = interrupted.as_ref().and_then(|it| it.run(mode));
            presenter.set_resumed(resumed.is_some());
            let limits = resumed.map(RecordedRun::limits);
            let limits = limits_line(&overrides, limits.as_ref());
            for line in lines.iter().chain(&limits) {
                presenter.print(line);
            }
        })
        .configure(run_ui.configuration(composed.setup))
        .configure(move |runner| runner.workspace(Arc::new(files)));

    let report = run_ui.run_interruptible(&control, project_run.run(&control))??;
    let printed = run_ui.print_result(&report_text(&report), env);
    printed.map_err(|error| error.with_hint("the run is recorded: run `autonoe log` to see it"))?;
    if let Some(hint) = exit_hint(&report.exit) {
        env.print_note(&format!("  hint: {}", sanitize_line(&hint)));
    }
    run_ui.print_denials(&project.journal_path(), &report.run, env);
    Ok(exit_code::for_run(&report.exit).into())
}

/// Returns the warning about the interrupted run or flow in the journal.
fn interrupted_run_warning(interrupted: &InterruptedRun, mode: Mode) -> String {
    match interrupted.run(mode) {
        Some(recorded) => format!(
            "resuming the killed run {}; \
             limits that you do not pass keep their original values",
            recorded.run()
        ),
        None => format!(
            "{}; starting a new {mode}",
            interrupted.not_resumed_warning()
        ),
    }
}

/// Returns lines for the project directory, the backend and the models, and for the thinking budget
/// if it is given.
///
/// `--dry-run` shows every setting with its source.
pub(crate) fn configuration_lines(
    directory: &Path,
    backend: &BackendChoice,
    agent: &AgentOptions,
) -> Vec<String> {
    let own = backend.model();
    let own = own.as_deref().unwrap_or("the backend's default");
    let model = agent.model.as_deref().unwrap_or(own);
    let models = match &agent.plan_model {
        Some(plan_model) => format!("{plan_model} for planning, otherwise {model}"),
        None => model.to_owned(),
    };
    let mut lines = vec![
        format!("Directory: {}", directory.display()),
        format!("Backend: {backend}"),
        format!("Models: {models}"),
    ];
    if let Some(thinking) = agent.thinking {
        lines.push(format!("Thinking: {} tokens", thinking.tokens()));
    }
    lines
}

/// Returns the line for the limits in force, unless they are the defaults: those of the command
/// line and of the resumed run.
pub(crate) fn limits_line(
    overrides: &LimitOverrides,
    resumed: Option<&RunLimits>,
) -> Option<String> {
    let limits: Vec<String> = limits_in_force(overrides, resumed)
        .into_iter()
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    (!limits.is_empty()).then(|| format!("Limits: {}", limits.join(", ")))
}

/// The interrupted run or flow of a project. Only the last one can be resumed.
pub(super) enum InterruptedRun {
    Run(Box<RecordedRun>),
    Flow(Box<RecordedFlow>),
}

impl InterruptedRun {
    /// Reads the journal and finds the interrupted run or flow. Returns `None` if the journal cannot
    /// be read: its other readers report the error.
    pub(super) fn find(project: &Project) -> Option<Self> {
        let journal = Journal::read(&project.journal_path()).ok()?;
        Self::from_journal(&journal)
    }

    /// Finds the interrupted run or flow in the journal of a project.
    pub(super) fn from_journal(journal: &Journal) -> Option<Self> {
        let run = journal
            .interrupted_run()
            .map(|run| Self::Run(Box::new(run)));
        run.or_else(|| {
            journal
                .interrupted_flow()
                .map(|flow| Self::Flow(Box::new(flow)))
        })
    }

    /// Returns the run, if it has this mode.
    pub(super) fn run(&self, mode: Mode) -> Option<&RecordedRun> {
        match self {
            Self::Run(recorded) => Some(&**recorded).filter(|recorded| recorded.mode() == mode),
            Self::Flow(_) => None,
        }
    }

    /// Returns the flow, if it has this name.
    pub(super) fn flow(&self, name: &str) -> Option<&RecordedFlow> {
        match self {
            Self::Flow(recorded) => Some(&**recorded).filter(|flow| flow.start.flow == name),
            Self::Run(_) => None,
        }
    }

    /// Returns a note that says how the run or flow of `project` continues.
    pub(super) fn note(&self, project: &Project) -> String {
        let command = match self {
            Self::Run(recorded) => format!("autonoe {}", recorded.mode()),
            Self::Flow(flow) => {
                let name = &flow.start.flow;
                // Workers of a cluster, for example, record flows that no command can start.
                if !flows_dir(project).join(name).is_dir() {
                    let note = format!(
                        "The flow {name} has not ended: the program that started it continues it."
                    );
                    return sanitize_line(&note);
                }
                format!("autonoe flow run {name}")
            }
        };
        sanitize_line(&format!(
            "The last run was killed: the next `{command}` resumes it."
        ))
    }

    /// Returns the warning for an interrupted run that is not resumed.
    pub(super) fn not_resumed_warning(&self) -> String {
        match self {
            Self::Run(recorded) => format!(
                "the killed {} {} is not resumed",
                recorded.mode(),
                recorded.run()
            ),
            Self::Flow(flow) => format!(
                "the unfinished run {} of the flow {} is not resumed",
                flow.run, flow.start.flow
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::run::JournalLine;
    use autonoe_core::time::Epoch;
    use clap::Parser;
    use jiff::Timestamp;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        run: RunArgs,
    }

    fn lines(flags: &[&str]) -> Vec<String> {
        let flags = ["autonoe"].iter().chain(flags);
        let agent = Flags::try_parse_from(flags).expect("flags").run.agent;
        let directory = Path::new("/srv/shop");
        let lines = configuration_lines(directory, &BackendChoice::default(), &agent.options());
        let limits = limits_line(&agent.limits.overrides(), None);
        lines.into_iter().chain(limits).collect()
    }

    #[test]
    fn only_a_flow_of_the_project_continues_with_a_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project::find(folder.path(), None).expect("a folder");
        std::fs::create_dir_all(flows_dir(&project).join("review")).expect("writable");
        let note = |flow: &str| {
            let started = JournalLine::FlowStarted {
                flow: flow.to_owned(),
                definition: String::new(),
                parameters: serde_json::json!({}),
                epoch: Epoch(1),
            };
            let lines = [(Timestamp::UNIX_EPOCH, &started)];
            let flow = RecordedFlow::replay(RunId::new("run"), lines).expect("it has no end");
            InterruptedRun::Flow(Box::new(flow)).note(&project)
        };

        assert_eq!(
            note("review"),
            "The last run was killed: the next `autonoe flow run review` resumes it."
        );
        assert_eq!(
            note("hosted"),
            "The flow hosted has not ended: the program that started it continues it."
        );
    }

    #[test]
    fn directory_backend_and_models_are_always_printed_and_other_settings_only_if_set() {
        for (flags, models) in [
            (&[][..], "the backend's default"),
            (&["-m", "sonnet"], "sonnet"),
            (
                &["-P", "opus"],
                "opus for planning, otherwise the backend's default",
            ),
            (
                &["-P", "opus", "-m", "sonnet"],
                "opus for planning, otherwise sonnet",
            ),
        ] {
            let models = format!("Models: {models}");
            let expected = ["Directory: /srv/shop", "Backend: claude", &models];
            assert_eq!(lines(flags), expected, "{flags:?}");
        }

        let all = lines(&[
            "--thinking",
            "--max-iterations=5",
            "--max-retries=1",
            "--max-stalled-sessions=0",
            "--wait-for-quota",
            "--max-cost=2.50",
            "--max-time=90m",
        ]);
        assert_eq!(
            all[3..],
            [
                "Thinking: 8192 tokens",
                "Limits: maxIterations 5, maxRetries 1, maxStalledSessions unlimited, onQuota wait, \
                 maxCost $2.50, maxTime 1h 30m",
            ]
        );
    }
}
