//! `autonoe schema`: prints the JSON Schemas.

use std::collections::BTreeMap;
use std::process::ExitCode;

use autonoe_app::ModelsFile;
use autonoe_core::schemas;
use autonoe_core::tool::{plain_output_schema, plain_schema};
use autonoe_scripted::ScriptedSpec;
use schemars::Schema;
use serde_json::Value;

use super::check::{Answer, LineAnswer};
use super::doctor::DoctorReport;
use super::dry_run::Plan;
use super::flow::{FlowOutcome, FlowPlan, Flows, Validation};
use super::harness::{HarnessFleets, HarnessLogLine, HarnessOutcome, HarnessRequest};
use super::status::Status;
use crate::args::SchemaArgs;
use crate::cli_env::CliEnv;
use crate::columns::columns;
use crate::error::CliError;

/// Prints a JSON Schema, or lists the names of all schemas.
pub(crate) fn schema(args: &SchemaArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    match &args.name {
        Some(name) => env.print(&schema_text(name)?)?,
        None => env.print(&list())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the text of a schema.
pub(super) fn schema_text(name: &str) -> Result<String, CliError> {
    let all = all();
    // The name of a backend on the command line is accepted too.
    let found = all
        .get(name)
        .or_else(|| all.get(&format!("backend.{name}")));
    let schema = found.ok_or_else(|| {
        CliError::usage(format!("unknown schema {name:?}"))
            .with_hint("run `autonoe schema` to list all schemas")
    })?;
    // Sorted, so that the output does not depend on the order of map insertions.
    let mut schema = schema.clone();
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema).map_err(|error| {
        CliError::failure(format!("the output cannot be written as JSON: {error}"))
    })?;
    Ok(format!("{text}\n"))
}

fn all() -> BTreeMap<String, Value> {
    let mut all = schemas();
    all.extend(autonoe_flow::schemas());
    all.extend(autonoe_harness::schemas());
    all.extend(autonoe_dashboard::schemas());
    // The file of `--backend scripted:FILE`, which needs no `type`.
    let mut scripted = plain_schema::<ScriptedSpec>().to_value();
    scripted["description"] =
        "The file of `--backend scripted:FILE`: `{\"sessions\": [{\"name\": \"plan\", \"steps\": \
         [{\"says\": \"hello\"}, \"ends\"]}]}`, without a `type`"
            .into();
    all.insert("scripted".to_owned(), scripted);
    let models = plain_schema::<ModelsFile>().to_value();
    all.insert("models".to_owned(), models);
    all.extend(outputs().map(|(name, schema)| (name.to_owned(), schema.to_value())));
    all
}

/// Returns the schemas of command outputs that are neither files nor events.
fn outputs() -> [(&'static str, Schema); 13] {
    [
        ("output.status", plain_output_schema::<Status<'static>>()),
        ("output.check", plain_output_schema::<Answer<'static>>()),
        (
            "output.check-line",
            plain_output_schema::<LineAnswer<'static>>(),
        ),
        ("output.doctor", plain_output_schema::<DoctorReport>()),
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
            "output.harness-request",
            plain_output_schema::<HarnessRequest>(),
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

/// Returns the first paragraph of the description.
fn about(schema: &Value) -> String {
    let description = schema["description"].as_str().unwrap_or_default();
    let paragraph = description.split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}
