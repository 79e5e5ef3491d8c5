//! Plan of a flow, for `autonoe flow run --dry-run`.

use autonoe_app::ChosenBackend;
use autonoe_app::text::{FlowMismatch, FlowReplay, pluralize, shorten};
use autonoe_core::Project;
use autonoe_core::project::{EffectiveConfig, Journal, RunLock};
use autonoe_core::session::RecordedFlow;
use autonoe_flow::definition::PermissionMode;
use autonoe_flow::prompt::{PromptResolver, Variables};
use autonoe_flow::{FlowDefinition, ParameterValues, StepId, ValidatedFlow};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::parameters::{ParameterSetting, Source, parameter_settings};
use crate::args::FlowRunArgs;
use crate::columns::columns;
use crate::commands::dry_run::{Setting, flow_settings, render_plan};
use crate::error::{CliError, OrFailure};

/// Output of `autonoe flow run --dry-run --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowPlan {
    /// The name of the flow.
    flow: String,
    /// The version of the flow.
    version: String,
    /// The folder of the flow.
    folder: String,
    /// The holder of the run lock, which would prevent the run.
    lock: Option<String>,
    /// The interrupted run that would be resumed.
    resumes: Option<String>,
    /// Reason why an interrupted run of this flow cannot be resumed. Nothing would be started.
    refused: Option<String>,
    /// The parameters.
    parameters: Vec<ParameterSetting>,
    /// The first step: where an interrupted run would be resumed, or the entry.
    first: FirstStep,
    /// Completion condition of the flow, as a stable name.
    completion: &'static str,
    /// The tools that the agent may use.
    allowed_tools: Vec<String>,
    /// The permission mode, as named in the definition.
    permission_mode: &'static str,
    /// The effective configuration.
    settings: Vec<Setting>,
}

/// The first step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FirstStep {
    /// The id.
    step: String,
    /// The display name.
    name: Option<String>,
    /// The file of its prompt, relative to the folder of the flow.
    prompt: Option<String>,
    /// Number of lines of the prompt.
    lines: usize,
}

impl FlowPlan {
    pub(super) fn new(
        args: &FlowRunArgs,
        project: &Project,
        flow: &ValidatedFlow,
        values: &ParameterValues,
        config: &EffectiveConfig,
        backend: &ChosenBackend,
    ) -> Result<Self, CliError> {
        let definition = flow.definition();
        let agent = definition.agent();
        let journal = Journal::read(&project.journal_path())?;
        let recorded = journal
            .interrupted_flow()
            .filter(|flow| !args.restart && flow.start.flow == agent.name.as_str());
        let (mut resumes, mut refused, mut next) = (None, None, None);
        if let Some(recorded) = recorded {
            match FlowReplay::new(&recorded.start, flow, values) {
                Ok(mut replayed) => {
                    replayed.apply_all(&recorded.facts);
                    next = replayed.next_step();
                    resumes = Some(recorded.run.to_string());
                }
                Err(mismatch) => refused = Some(refusal(&recorded, mismatch)),
            }
        }
        let (step, variables) =
            next.unwrap_or_else(|| (definition.registry().entry_step.clone(), None));
        let variables = variables.unwrap_or_else(|| values.variables());
        let folder = definition.folder().unwrap_or(project.root());
        Ok(Self {
            flow: agent.name.to_string(),
            version: agent.version.clone(),
            folder: folder.display().to_string(),
            lock: RunLock::held(project)?.map(|held| held.to_string()),
            resumes,
            refused,
            parameters: parameter_settings(agent, &args.parameters, values),
            first: FirstStep::new(definition, &step, &variables)?,
            completion: agent.behavior.completion.completion_type().name(),
            allowed_tools: agent.behavior.allowed_tools.clone(),
            permission_mode: match agent.behavior.permission_mode {
                PermissionMode::Default => "default",
                PermissionMode::AcceptEdits => "acceptEdits",
                PermissionMode::Plan => "plan",
            },
            settings: flow_settings(&args.agent.options(), &args.limits(), config, backend),
        })
    }

    /// Returns whether an interrupted run of this flow cannot be resumed.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Formats the plan as text.
    pub(super) fn format(&self) -> String {
        let optional = |key: &'static str, value: &Option<String>| {
            let value = value.clone();
            value.map(|value| (key, value))
        };
        let prompt = match &self.first.prompt {
            Some(file) => format!("{file}, {}", pluralize(self.first.lines as u64, "line")),
            None => "none: its sub-steps have their own prompts".to_owned(),
        };
        let first = match &self.first.name {
            Some(name) => format!("{}: {name}", self.first.step),
            None => self.first.step.clone(),
        };
        let mut rows = vec![
            ("flow", format!("{} {}", self.flow, self.version)),
            ("folder", self.folder.clone()),
        ];
        rows.extend(optional("blocked by", &self.lock));
        rows.extend(optional("resumes", &self.resumes));
        rows.extend(optional("cannot resume", &self.refused));
        let at = match self.resumes {
            Some(_) => "at step",
            None => "first step",
        };
        rows.push((at, first));
        rows.push(("prompt", prompt));
        rows.push(("completion", self.completion.to_owned()));
        rows.push(("tools", tools(&self.allowed_tools)));
        rows.push(("permission mode", self.permission_mode.to_owned()));
        render_plan(rows, &parameters(&self.parameters), &self.settings)
    }
}

fn refusal(recorded: &RecordedFlow, mismatch: FlowMismatch) -> String {
    let reason = match mismatch {
        FlowMismatch::Definition => "its definition has changed since then",
        FlowMismatch::Parameters => "its parameters were different",
    };
    format!(
        "{}: {reason}; use --restart to start a new run",
        recorded.run
    )
}

fn tools(allowed: &[String]) -> String {
    if allowed.is_empty() {
        "(none)".to_owned()
    } else {
        allowed.join(", ")
    }
}

fn parameters(parameters: &[ParameterSetting]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let rows = parameters.iter().map(|parameter| {
        let value = match &parameter.value {
            None => "(none)".to_owned(),
            Some(Value::String(text)) => shorten(text),
            Some(value) => shorten(&value.to_string()),
        };
        let source = match parameter.source {
            Source::Flag => "flag",
            Source::Default => "default",
            Source::None => "",
        };
        [parameter.flag.clone(), value, source.to_owned()]
    });
    let rows: Vec<_> = rows.collect();
    format!("\nParameters and their sources:\n{}", columns(2, &rows))
}

impl FirstStep {
    fn new(
        definition: &FlowDefinition,
        id: &StepId,
        variables: &Variables,
    ) -> Result<Self, CliError> {
        let step = definition.registry().step(id);
        let mut first = Self {
            step: id.to_string(),
            name: step.and_then(|step| step.name()).map(str::to_owned),
            prompt: None,
            lines: 0,
        };
        let work = step.and_then(|step| step.work());
        if let Some(reference) = work.and_then(|work| work.prompt.as_ref()) {
            let resolved = PromptResolver::new(definition)
                .resolve(reference, variables)
                .or_failure()?;
            first.prompt = Some(resolved.file.display().to_string());
            first.lines = resolved.text.lines().count();
        }
        Ok(first)
    }
}
