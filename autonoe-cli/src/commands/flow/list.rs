//! `autonoe flow list`.

use std::process::ExitCode;

use autonoe_flow::{FlowDefinition, Parameter, ParameterType, VariableName};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::findings::{Examined, examine};
use super::folders::{all, flows_dir};
use crate::args::FlowListArgs;
use crate::columns::columns_within;
use crate::error::CliError;
use crate::present::harmless_line;
use crate::surroundings::Surroundings;

/// What `autonoe flow list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Flows {
    /// The folder in which the flows of the project are.
    folder: String,
    /// The flows, by name.
    flows: Vec<Row>,
}

/// A flow, as far as it is understood.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowRow")]
struct Row {
    /// The name of its folder.
    name: String,
    /// Whether it could start.
    valid: bool,
    /// How many errors it has.
    errors: usize,
    /// How many warnings it has.
    warnings: usize,
    /// What its files say, unless they are not understood.
    definition: Option<Definition>,
    #[serde(skip)]
    verdict: String,
}

/// What the files of a flow say.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FlowSummary")]
struct Definition {
    version: String,
    /// The name for people.
    title: String,
    /// What the flow is for.
    description: Option<String>,
    /// How many steps there are.
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
    /// The flag by which it is given.
    flag: String,
    #[serde(rename = "type")]
    parameter_type: ParameterType,
    /// Whether it must be given.
    required: bool,
    /// The value if none is given.
    default: Option<Value>,
    /// What it is for.
    description: Option<String>,
}

/// Lists the flows of a project.
pub(super) fn list(args: &FlowListArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let rows = all(&project)?.into_iter().map(|folder| {
        let (examined, definition) = examine(&folder);
        Row::of(&examined, definition.as_ref())
    });
    let flows = Flows {
        folder: flows_dir(&project).display().to_string(),
        flows: rows.collect(),
    };
    match args.json {
        true => surroundings.say_json(&flows)?,
        false => surroundings.say(&shown(&flows, surroundings.columns))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Row {
    fn of(examined: &Examined, definition: Option<&FlowDefinition>) -> Self {
        Self {
            name: examined.name().to_owned(),
            valid: examined.is_valid(),
            errors: examined.errors().len(),
            warnings: examined.warnings().len(),
            definition: definition.map(Definition::of),
            verdict: examined.verdict(),
        }
    }
}

impl Definition {
    fn of(definition: &FlowDefinition) -> Self {
        let agent = definition.agent();
        let flag = |(name, parameter): (&VariableName, &Parameter)| Flag {
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

fn shown(flows: &Flows, width: Option<usize>) -> String {
    if flows.flows.is_empty() {
        return format!(
            "There are no flows yet.\nA flow is a folder in {} with agent.json, \
             steps_registry.json and prompts.\n",
            harmless_line(&flows.folder)
        );
    }
    let head = ["NAME", "STATE", "STEPS", "ABOUT"].map(str::to_owned);
    let rows = flows.flows.iter().map(|row| {
        let (steps, about) = match &row.definition {
            None => ("-".to_owned(), "cannot be read".to_owned()),
            Some(definition) => {
                let about = definition.description.as_ref().unwrap_or(&definition.title);
                (definition.steps.to_string(), harmless_line(about.trim()))
            }
        };
        [harmless_line(&row.name), row.verdict.clone(), steps, about]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let mut text = columns_within(0, &rows, width);
    if flows.flows.iter().any(|row| row.errors + row.warnings > 0) {
        text.push_str("\n`autonoe flow validate` tells what is wrong and how to mend it.\n");
    }
    text
}
