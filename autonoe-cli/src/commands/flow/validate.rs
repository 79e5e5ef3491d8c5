//! `autonoe flow validate`: reports errors and warnings of flows.

use std::process::ExitCode;

use autonoe_app::exit_code;
use autonoe_app::text::flows_dir;
use schemars::JsonSchema;
use serde::Serialize;

use super::findings::{FlowFindings, load_and_validate};
use super::folders::{find, find_all};
use crate::args::FlowValidateArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Output of `autonoe flow validate --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Validation {
    /// Whether no flow has errors.
    valid: bool,
    /// The flows, by name.
    flows: Vec<FlowFindings>,
}

/// Validates one flow, or all flows of the project.
pub(super) fn validate(args: &FlowValidateArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    // A failed validation must not look like an invalid flow.
    validate_flows(args, env).map_err(CliError::into_usage)
}

fn validate_flows(args: &FlowValidateArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let folders = match &args.flow {
        Some(flow) => vec![find(flow, &project, env)?],
        None => find_all(&project)?,
    };
    if folders.is_empty() {
        let dir = flows_dir(&project);
        // No flow was validated, so none is valid.
        return Err(
            CliError::usage(format!("there are no flows in {}", dir.display())).with_hint(
                "create a folder for each flow there, or pass the path of another folder, with a \
                 / in it",
            ),
        );
    }
    let flows: Vec<_> = folders
        .iter()
        .map(|folder| load_and_validate(folder).0)
        .collect();
    let validation = Validation {
        valid: flows.iter().all(|flow| flow.valid),
        flows,
    };
    env.print_as(args.json, &validation, |it| format_validation(it, env))?;
    Ok(exit_code::success_if(validation.valid))
}

fn format_validation(validation: &Validation, env: &CliEnv) -> String {
    let here = &env.working_dir;
    let mut texts: Vec<_> = validation
        .flows
        .iter()
        .map(|flow| flow.format(here))
        .collect();
    if let [_, _, ..] = texts.as_slice() {
        let valid = validation.flows.iter().filter(|flow| flow.valid);
        texts.push(format!(
            "{} of {} flows valid\n",
            valid.count(),
            texts.len()
        ));
    }
    // Blank lines separate the flows only if one of them has findings.
    let is_quiet = texts.iter().all(|text| text.lines().count() == 1);
    texts.join(if is_quiet { "" } else { "\n" })
}
