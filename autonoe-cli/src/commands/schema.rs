//! `autonoe schema`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use autonoe_core::{plain_output_schema, plain_schema, schemas};
use autonoe_scripted::ScriptedBackend;
use schemars::Schema;
use serde_json::Value;

use super::check::{Answer, LineAnswer};
use super::doctor::Examination;
use super::dry_run::Plan;
use super::flow::{FlowOutcome, FlowPlan, Flows, Validation};
use super::harness::{HarnessAsked, HarnessFleets, HarnessLogLine, HarnessOutcome};
use super::status::Status;
use crate::args::SchemaArgs;
use crate::columns::columns;
use crate::compose::ModelsFile;
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Prints a JSON Schema, or the names of all that there are.
pub(crate) fn schema(args: &SchemaArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    match &args.name {
        Some(name) => surroundings.say(&text(name)?)?,
        None => surroundings.say(&list())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the text of a schema.
pub(super) fn text(name: &str) -> Result<String, CliError> {
    let all = all();
    // What a backend is called on the command line is enough.
    let found = all
        .get(name)
        .or_else(|| all.get(&format!("backend.{name}")));
    let schema = found.ok_or_else(|| {
        CliError::usage(format!("there is no schema {name:?}"))
            .with_hint("`autonoe schema` lists them")
    })?;
    // In one order, whatever keeps maps in the order of their making.
    let mut schema = schema.clone();
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema)
        .map_err(|error| CliError::failure(format!("it cannot be written as JSON: {error}")))?;
    Ok(format!("{text}\n"))
}

fn all() -> BTreeMap<String, Value> {
    let mut all = schemas();
    all.extend(autonoe_flow::schemas());
    all.extend(autonoe_harness::schemas());
    all.extend(autonoe_dashboard::schemas());
    // The file of `--backend scripted:FILE`, which needs no `type`.
    let scripted = plain_schema::<ScriptedBackend>().to_value();
    all.insert("scripted".to_owned(), scripted);
    let models = plain_schema::<ModelsFile>().to_value();
    all.insert("models".to_owned(), models);
    all.extend(outputs().map(|(name, schema)| (name.to_owned(), schema.to_value())));
    all
}

/// Describes what commands print for other programs, as far as it is no file and no event.
fn outputs() -> [(&'static str, Schema); 13] {
    [
        ("output.status", plain_output_schema::<Status<'static>>()),
        ("output.check", plain_output_schema::<Answer<'static>>()),
        (
            "output.check-line",
            plain_output_schema::<LineAnswer<'static>>(),
        ),
        (
            "output.doctor",
            plain_output_schema::<Examination<'static>>(),
        ),
        ("output.dry-run", plain_output_schema::<Plan>()),
        ("output.flow-dry-run", plain_output_schema::<FlowPlan>()),
        (
            "output.flow-run",
            plain_output_schema::<FlowOutcome<'static>>(),
        ),
        ("output.flow-list", plain_output_schema::<Flows>()),
        ("output.flow-validate", plain_output_schema::<Validation>()),
        (
            "output.harness-run",
            plain_output_schema::<HarnessOutcome<'static>>(),
        ),
        (
            "output.harness-status",
            plain_output_schema::<HarnessFleets>(),
        ),
        (
            "output.harness-log-line",
            plain_output_schema::<HarnessLogLine<'static>>(),
        ),
        (
            "output.harness-asked",
            plain_output_schema::<HarnessAsked>(),
        ),
    ]
}

fn list() -> String {
    let rows: Vec<_> = all()
        .into_iter()
        .map(|(name, schema)| [name, about(&schema)])
        .collect();
    columns(0, &rows)
}

/// Returns the first sentence of the description.
fn about(schema: &Value) -> String {
    let description = schema["description"].as_str().unwrap_or_default();
    let paragraph = description.split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}
