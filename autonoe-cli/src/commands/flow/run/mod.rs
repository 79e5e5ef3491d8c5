//! `autonoe flow run`: runs a flow, or resumes an interrupted one.

mod outcome;
mod parameters;
mod plan;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use autonoe_app::text::{FlowReplay, sanitize_line};
use autonoe_app::{
    AlertSource, ChosenBackend, ModelsFile, RunAlerts, exit_code, flow_commands, flow_notifiers,
    load_config, missing_keys, without_keys,
};
use autonoe_core::project::{EffectiveConfig, ProjectError, RunLock};
use autonoe_core::run::LimitOverrides;
use autonoe_core::session::RecordedFlow;
use autonoe_core::{Budget, Mode, Project, RunControl};
use autonoe_flow::run::OnInterrupted;
use autonoe_flow::{
    FlowDefinition, FlowErrorKind, FlowFact, FlowLimits, FlowRun, FlowRunError, ParameterValues,
    ValidatedFlow,
};

pub(in crate::commands) use self::outcome::FlowOutcome;
use self::outcome::{failure_exit_code, flow_exit_code, format_outcome};
use self::parameters::parse_values;
pub(in crate::commands) use self::plan::FlowPlan;
use super::findings::load_and_validate;
use super::folders::find;
use crate::args::{FlowRunArgs, OutputFormat};
use crate::cli_env::CliEnv;
use crate::commands::notify::{report_error, run_alerts};
use crate::commands::run::InterruptedRun;
use crate::commands::run_ui::RunUi;
use crate::error::{CliError, error_chain};

/// Runs a flow until it is complete, or resumes an interrupted one.
pub(super) fn run(args: &FlowRunArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let flow = load_valid(args, &project, env)?;
    check_location(flow.definition(), &project)?;
    let values = parse_values(flow.definition().agent(), &args.parameters)?;
    if args.dry_run {
        return dry_run(args, &project, &flow, &values, env);
    }
    // Checked before the journal is read, because a run in progress is not an interrupted one.
    if let Some(held) = RunLock::held(&project)? {
        return Err(ProjectError::Locked(held).into());
    }
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let alerts = run_alerts(&args.notify, AlertSource::Flow, &project, &models, env)?;
    let done = run_flow(args, &project, flow, values, &models, alerts.clone(), env);
    report_error(&done, alerts.as_ref(), env);
    done
}

fn run_flow(
    args: &FlowRunArgs,
    project: &Project,
    flow: ValidatedFlow,
    values: ParameterValues,
    models: &ModelsFile,
    alerts: Option<Arc<RunAlerts>>,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let agent = args.agent.options();
    let registry = flow.definition().registry();
    let notifiers = flow_notifiers(registry, project, models, env)?;
    let missing_keys = missing_keys(registry, env);
    // The rest of the command does not need the signing keys of webhooks.
    let env = &env.with_env(without_keys(env));
    let switch = agent.sandbox(env);
    let commands = flow_commands(flow.definition(), project, models, switch, env)?;
    let composed = agent.compose(project, Mode::Run, models, env)?;
    let mut run_ui = RunUi::open(&agent, &args.output, project, models, env);
    run_ui.connect(project);
    run_ui.notify(alerts.clone());
    run_ui.print_warnings(agent.destructive(), &composed.warnings);
    for finding in flow.warnings() {
        run_ui.warn(&finding.to_string());
    }
    let interrupted = InterruptedRun::find(project);
    let name = flow.definition().agent().name.as_str();
    let resumed = interrupted
        .as_ref()
        .filter(|_| !args.restart)
        .and_then(|interrupted| interrupted.flow(name));
    let is_resumable =
        |recorded: &RecordedFlow| FlowReplay::new(&recorded.start, &flow, &values).is_ok();
    match (&interrupted, resumed) {
        // The run itself reports the reason.
        (_, Some(recorded)) if !is_resumable(recorded) => {}
        (_, Some(recorded)) => run_ui.warn(&format!(
            "resuming the run {} of the flow {name}; limits that you do not pass keep their \
             original values",
            recorded.run
        )),
        (Some(interrupted), None) => run_ui.warn(&format!(
            "{}; starting a new run of {name}",
            interrupted.not_resumed_warning()
        )),
        (None, None) => {}
    }
    let limits = limits(&args.limits(), resumed);
    let control = RunControl::new();
    let flow_lines = run_ui.flow_lines();
    let run = FlowRun::new(composed.project, flow, composed.agents)
        .parameters(values)
        .on_interrupted(if args.restart {
            OnInterrupted::StartNew
        } else {
            OnInterrupted::Resume
        })
        .options(move |options| {
            let mut options = options
                .commands(commands)
                .notifiers(notifiers)
                .observer(flow_lines);
            if let Some(limits) = limits {
                options = options.limits(limits);
            }
            match alerts {
                Some(alerts) => options.observer(alerts),
                None => options,
            }
        })
        .configure(run_ui.configuration(composed.setup));

    let result = run_ui
        .run_interruptible(&control, run.run(&control))?
        .map_err(|error| start_error(error, &missing_keys))?;
    let printed = if args.json {
        env.print_json(&FlowOutcome::new(&result))
    } else {
        run_ui.print_result(&format_outcome(&result), env)
    };
    printed
        .map_err(|error| error.with_hint("the flow is recorded: run `autonoe log` to see it"))?;
    run_ui.print_denials(&project.journal_path(), &result.run, env);
    Ok(flow_exit_code(&result).into())
}

/// Converts the error of a flow that could not start.
///
/// `missing_keys` are the variables of required signing keys that are not set.
fn start_error(error: FlowRunError, missing_keys: &[String]) -> CliError {
    match error {
        FlowRunError::Project(error) => error.into(),
        FlowRunError::Flow(error) => {
            let cli_error =
                CliError::failure(error_chain(&error)).with_code(failure_exit_code(error.kind()));
            match error.kind() {
                FlowErrorKind::ConfigurationValidation | FlowErrorKind::Parameter => {
                    cli_error.with_hint("use --restart to start a new run instead")
                }
                FlowErrorKind::DependencyResolution if !missing_keys.is_empty() => {
                    cli_error.with_hint(format!("set {}", missing_keys.join(", ")))
                }
                _ => cli_error,
            }
        }
        error => CliError::failure(error_chain(&error)),
    }
}

/// Loads and validates the flow. The error lists every finding.
fn load_valid(
    args: &FlowRunArgs,
    project: &Project,
    env: &CliEnv,
) -> Result<ValidatedFlow, CliError> {
    let folder = find(&args.flow, project, env)?;
    let (findings, definition) = load_and_validate(&folder);
    let valid = definition.and_then(|definition| definition.validated().ok());
    valid.ok_or_else(|| {
        let findings = findings.format(&env.working_dir);
        CliError::failure(format!("the flow cannot be run\n{}", findings.trim_end()))
    })
}

/// Prints the plan of the flow. Starts no agent and writes nothing.
fn dry_run(
    args: &FlowRunArgs,
    project: &Project,
    flow: &ValidatedFlow,
    values: &ParameterValues,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let agent = args.agent.options();
    let config = load_config(project)?;
    let backend = ChosenBackend::select(agent.backend.as_ref(), project, &config)?;
    let config = EffectiveConfig::merge(Some(config), Mode::Run, agent.sandbox(env))?;
    backend.check(&agent, env)?;
    for line in backend.warnings.iter().chain(config.warnings()) {
        env.print_note(&format!("warning: {}", sanitize_line(line)));
    }
    let plan = FlowPlan::new(args, project, flow, values, &config, &backend)?;
    let is_json = args.json || args.output.output == OutputFormat::Json;
    env.print_as(is_json, &plan, FlowPlan::format)?;
    Ok(exit_code::success_if(!plan.is_refused()))
}

/// Returns the limits to set; `None` if no limit is given, so that `recorded` keeps its own.
fn limits(overrides: &LimitOverrides, recorded: Option<&RecordedFlow>) -> Option<FlowLimits> {
    let has_overrides = overrides.on_quota.is_some() || overrides.budget != Budget::default();
    let recorded_limits = recorded.and_then(last_limits).unwrap_or_default();
    has_overrides.then(|| FlowLimits {
        budget: Budget {
            cost_usd: overrides
                .budget
                .cost_usd
                .or(recorded_limits.budget.cost_usd),
            tokens: overrides.budget.tokens.or(recorded_limits.budget.tokens),
            time: overrides.budget.time.or(recorded_limits.budget.time),
        },
        on_quota: overrides.on_quota.unwrap_or(recorded_limits.on_quota),
        quota_backoff: recorded_limits.quota_backoff,
    })
}

/// Returns the limits of a flow when it was interrupted.
fn last_limits(recorded: &RecordedFlow) -> Option<FlowLimits> {
    let facts = recorded.facts.iter().rev();
    // Resuming the flow reports facts that cannot be parsed.
    let mut facts = facts.filter_map(|fact| serde_json::from_value(fact.clone()).ok());
    facts.find_map(|fact| match fact {
        FlowFact::Started { limits, .. } | FlowFact::LimitsChanged { limits } => Some(limits),
        _ => None,
    })
}

/// Returns an error if agents and checks could change the definition of the flow that governs them.
/// They can write everywhere in the project except `.autonoe`.
fn check_location(definition: &FlowDefinition, project: &Project) -> Result<(), CliError> {
    let Some(folder) = definition.folder() else {
        return Ok(());
    };
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, root) = (canonical(folder), canonical(project.root()));
    // A folder around the project may have its prompts inside the project.
    let is_in_reach = folder.starts_with(&root) || root.starts_with(&folder);
    if !is_in_reach || folder.starts_with(canonical(&project.state_dir())) {
        return Ok(());
    }
    let name = &definition.agent().name;
    let message = format!(
        "the flow {name} cannot be run from {}: its own agents could change it there",
        folder.display()
    );
    Err(CliError::failure(message).with_hint(format!(
        "move the folder to .autonoe/flows/{name}, which agents cannot write to, or out of the project"
    )))
}
