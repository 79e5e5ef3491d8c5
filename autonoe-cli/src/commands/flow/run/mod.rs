//! `autonoe flow run`.

mod limits;
mod outcome;
mod parameters;
mod place;
mod plan;

use std::process::ExitCode;
use std::sync::Arc;

use autonoe_core::{
    AgentConfig, EffectiveConfig, Mode, Project, ProjectError, RunControl, RunLock,
};
use autonoe_flow::{
    FlowErrorKind, FlowRun, FlowRunError, OnBrokenOff, ParameterValues, ValidatedFlow,
};

use self::limits::limits;
pub(in crate::commands) use self::outcome::{FlowOutcome, why};
use self::outcome::{code, code_of, shown};
use self::parameters::values;
use self::place::out_of_reach;
pub(in crate::commands) use self::plan::FlowPlan;
use super::findings::examine;
use super::folders::named;
use crate::args::{FlowRunArgs, OutputFormat};
use crate::commands::interrupted_run::InterruptedRun;
use crate::commands::stage::Stage;
use crate::compose::{
    ChosenBackend, ModelsFile, flow_commands, flow_notifiers, missing_keys, sandbox_switch,
    without_keys,
};
use crate::error::{CliError, whole};
use crate::present::harmless_line;
use crate::surroundings::Surroundings;

/// Runs a flow until it is complete, or resumes an interrupted one.
pub(super) fn run(args: &FlowRunArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let flow = valid(args, &project, surroundings)?;
    out_of_reach(flow.definition(), &project)?;
    let values = values(flow.definition().agent(), &args.parameters)?;
    if args.dry_run {
        return dry_run(args, &project, &flow, &values, surroundings);
    }
    play(args, project, flow, values, surroundings)
}

fn play(
    args: &FlowRunArgs,
    project: Project,
    flow: ValidatedFlow,
    values: ParameterValues,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    // Before the journal: a run in progress is not an interrupted one.
    if let Some(held) = RunLock::held(&project)? {
        return Err(ProjectError::Locked(held).into());
    }
    let agent = args.agent();
    let switch = sandbox_switch(agent.no_sandbox, surroundings);
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let registry = flow.definition().registry();
    let notifiers = flow_notifiers(registry, &project, &models, surroundings)?;
    let missing_keys = missing_keys(registry, surroundings);
    // From here on nobody needs the keys of webhooks.
    let surroundings = &without_keys(surroundings);
    let commands = flow_commands(flow.definition(), &project, &models, switch, surroundings)?;
    let backend = ChosenBackend::find(agent.backend.as_ref(), Some(&project))?;
    let wanted = agent.wanted(surroundings);
    let built = backend.build(&project, Mode::Run, wanted, &models, surroundings)?;
    let mut stage = Stage::open(&agent, &args.output, &project, &models, surroundings);
    stage.warn_of(args.destructive(), &built.warnings);
    for finding in flow.warnings() {
        stage.warn(&finding.to_string());
    }
    let interrupted = InterruptedRun::find(&project);
    let name = flow.definition().agent().name.as_str();
    let resumed = interrupted.as_ref().filter(|_| !args.anew);
    let resumed = resumed.and_then(|interrupted| interrupted.flow(name));
    match (&interrupted, resumed) {
        (_, Some(recorded)) => stage.warn(&format!(
            "resuming the interrupted run {} of the flow {name}; limits that are not given now are \
             those that it was started with",
            recorded.run
        )),
        (Some(left), None) => stage.warn(&format!(
            "{}; a new one of {name} begins",
            left.left_warning()
        )),
        (None, None) => {}
    }
    let limits = limits(&agent, resumed);
    let control = RunControl::new();
    let journal = project.journal_path();
    let mut run = FlowRun::new(project, flow, built.agents)
        .parameters(values)
        .on_broken_off(match args.anew {
            true => OnBrokenOff::StartAnew,
            false => OnBrokenOff::GoOn,
        })
        .sandbox(switch)
        .destructive(args.destructive())
        .commands(Arc::new(commands))
        .notifiers(notifiers)
        .observer(stage.flow_lines())
        .configure(stage.configuration(
            &agent,
            built.outer_sandbox,
            built.missing_server,
            surroundings,
        ));
    if let Some(limits) = limits {
        run = run.limits(limits);
    }

    let result = stage.play(&control, run.run(&control))?;
    let result = result.map_err(|error| not_begun(error, &missing_keys))?;
    let told = match args.json {
        true => surroundings.say_json(&FlowOutcome::of(&result)),
        false => stage.tell(&shown(&result), surroundings),
    };
    told.map_err(|error| error.with_hint("the flow is written down: `autonoe log` tells it"))?;
    stage.print_denials(&journal, &result.run, surroundings);
    Ok(code(&result).into())
}

/// Says why a flow could not begin.
///
/// `missing_keys` are variables that hold no signing key although the flow needs them.
fn not_begun(error: FlowRunError, missing_keys: &[String]) -> CliError {
    match error {
        FlowRunError::Project(error) => error.into(),
        FlowRunError::Flow(error) => {
            let told = CliError::failure(whole(&error)).with_code(code_of(error.kind()));
            match error.kind() {
                FlowErrorKind::ConfigurationValidation | FlowErrorKind::Parameter => {
                    told.with_hint("--anew leaves it as it is and starts anew")
                }
                FlowErrorKind::DependencyResolution if !missing_keys.is_empty() => {
                    told.with_hint(format!("set {}", missing_keys.join(", ")))
                }
                _ => told,
            }
        }
        error => CliError::failure(whole(&error)),
    }
}

/// Loads the flow, and tells what is wrong with it.
fn valid(
    args: &FlowRunArgs,
    project: &Project,
    surroundings: &Surroundings,
) -> Result<ValidatedFlow, CliError> {
    let folder = named(&args.flow, project, surroundings)?;
    let (examined, definition) = examine(&folder);
    let valid = definition.and_then(|definition| definition.validated().ok());
    valid.ok_or_else(|| {
        let told = examined.shown(&surroundings.working_dir);
        CliError::failure(format!("the flow cannot be run\n{}", told.trim_end()))
    })
}

/// Shows what would be done. No agent is started and nothing is written.
fn dry_run(
    args: &FlowRunArgs,
    project: &Project,
    flow: &ValidatedFlow,
    values: &ParameterValues,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let config = AgentConfig::load(project.config_path())?;
    let switch = sandbox_switch(args.agent().no_sandbox, surroundings);
    let config = EffectiveConfig::merge(config, Mode::Run, switch)?;
    let backend = ChosenBackend::find(args.agent().backend.as_ref(), Some(project))?;
    backend.check(args.agent().wanted(surroundings))?;
    for line in backend.announced.iter().chain(config.warnings()) {
        surroundings.note(&format!("warning: {}", harmless_line(line)));
    }
    let plan = FlowPlan::of(args, project, flow, values, &config, &backend)?;
    match args.json || args.output.output == OutputFormat::Json {
        true => surroundings.say_json(&plan)?,
        false => surroundings.say(&plan.shown())?,
    }
    Ok(ExitCode::SUCCESS)
}
