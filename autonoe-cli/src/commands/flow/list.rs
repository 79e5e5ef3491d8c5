//! `autonoe flow list`: lists the flows of a project.

use std::process::ExitCode;

use autonoe_app::text::{flows_dir, sanitize_line};
use autonoe_flow::FlowDefinition;
use autonoe_flow::definition::{ParameterDefinition, ParameterType, VariableName};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::findings::{FlowFindings, load_and_validate};
use super::folders::find_all;
use crate::args::FlowListArgs;
use crate::cli_env::CliEnv;
use crate::columns::columns_within;
use crate::error::CliError;

/// Output of `autonoe flow list --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Flows {
    /// The folder of the flows of the project.
    folder: String,
    /// The flows, by name.
    flows: Vec<Row>,
}

/// A flow, as far as it can be parsed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowRow")]
struct Row {
    /// The name of its folder.
    name: String,
    /// Whether it is valid.
    valid: bool,
    /// Number of errors.
    errors: usize,
    /// Number of warnings.
    warnings: usize,
    /// Its definition, if it can be parsed.
    definition: Option<Definition>,
    #[serde(skip)]
    verdict: String,
}

/// The definition of a flow.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowSummary")]
struct Definition {
    version: String,
    /// The display name.
    title: String,
    /// The description of the flow.
    description: Option<String>,
    /// Number of steps.
    steps: usize,
    /// The parameters, by name.
    parameters: Vec<Flag>,
}

/// A parameter of a flow.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowParameter")]
struct Flag {
    name: VariableName,
    /// The flag that sets it.
    flag: String,
    #[serde(rename = "type")]
    parameter_type: ParameterType,
    /// Whether it is required.
    required: bool,
    /// The default value.
    default: Option<Value>,
    /// Its description.
    description: Option<String>,
}

/// Lists the flows of a project.
pub(super) fn list(args: &FlowListArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let rows = find_all(&project)?.into_iter().map(|folder| {
        let (findings, definition) = load_and_validate(&folder);
        Row::new(&findings, definition.as_ref())
    });
    let flows = Flows {
        folder: flows_dir(&project).display().to_string(),
        flows: rows.collect(),
    };
    env.print_as(args.json, &flows, |flows| format_list(flows, env.columns))?;
    Ok(ExitCode::SUCCESS)
}

impl Row {
    fn new(findings: &FlowFindings, definition: Option<&FlowDefinition>) -> Self {
        Self {
            name: findings.name.clone(),
            valid: findings.valid,
            errors: findings.errors.len(),
            warnings: findings.warnings.len(),
            definition: definition.map(Definition::new),
            verdict: findings.verdict(),
        }
    }
}

impl Definition {
    fn new(definition: &FlowDefinition) -> Self {
        let agent = definition.agent();
        let flag = |(name, parameter): (&VariableName, &ParameterDefinition)| Flag {
            name: name.clone(),
            flag: parameter.flag(name),
            parameter_type: parameter.parameter_type,
            required: parameter.required,
            default: parameter.default.clone(),
            description: parameter.description.clone(),
        };
        Self {
            version: agent.version.clone(),
            title: agent.title().to_owned(),
            description: agent.description.clone(),
            steps: definition.registry().steps.len(),
            parameters: agent.parameters.iter().map(flag).collect(),
        }
    }
}

fn format_list(flows: &Flows, width: Option<usize>) -> String {
    if flows.flows.is_empty() {
        return format!(
            "There are no flows yet.\nA flow is a folder in {} with agent.json, \
             steps_registry.json and prompts.\n",
            sanitize_line(&flows.folder)
        );
    }
    let head = ["NAME", "STATE", "STEPS", "ABOUT"].map(str::to_owned);
    let rows = flows.flows.iter().map(|row| {
        let (steps, about) = match &row.definition {
            None => ("-".to_owned(), "cannot be read".to_owned()),
            Some(definition) => {
                let about = definition.description.as_ref().unwrap_or(&definition.title);
                (definition.steps.to_string(), sanitize_line(about.trim()))
            }
        };
        [sanitize_line(&row.name), row.verdict.clone(), steps, about]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let mut text = columns_within(0, &rows, width);
    if flows.flows.iter().any(|row| row.errors + row.warnings > 0) {
        text.push_str("\nRun `autonoe flow validate` to see the problems and how to fix them.\n");
    }
    text
}
