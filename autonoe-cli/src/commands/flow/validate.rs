//! `autonoe flow validate`.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::{Examined, examine};
use super::folders::{all, flows_dir, named};
use crate::args::FlowValidateArgs;
use crate::error::CliError;
use crate::exit_code;
use crate::surroundings::Surroundings;

/// What `autonoe flow validate --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Validation {
    /// Whether there are no errors in any of the flows.
    valid: bool,
    /// The flows, by name.
    flows: Vec<Examined>,
}

/// Finds what is wrong with one flow, or with all of the project.
pub(super) fn validate(
    args: &FlowValidateArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    // A validation that could not be made must not look like one that found an error.
    examined(args, surroundings).map_err(CliError::into_usage)
}

fn examined(args: &FlowValidateArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let folders = match &args.flow {
        Some(word) => vec![named(word, &project, surroundings)?],
        None => all(&project)?,
    };
    if folders.is_empty() {
        let dir = flows_dir(&project);
        // Nothing was looked at, so nothing is valid.
        return Err(
            CliError::usage(format!("there are no flows in {}", dir.display())).with_hint(
                "make a folder there for each, or name a folder elsewhere, with a / in it",
            ),
        );
    }
    let flows: Vec<_> = folders.iter().map(|folder| examine(folder).0).collect();
    let validation = Validation {
        valid: flows.iter().all(Examined::is_valid),
        flows,
    };
    match args.json {
        true => surroundings.say_json(&validation)?,
        false => surroundings.say(&shown(&validation, surroundings))?,
    }
    Ok(match validation.valid {
        true => ExitCode::SUCCESS,
        false => exit_code::FAILURE.into(),
    })
}

fn shown(validation: &Validation, surroundings: &Surroundings) -> String {
    let here = &surroundings.working_dir;
    let mut texts: Vec<_> = validation
        .flows
        .iter()
        .map(|flow| flow.shown(here))
        .collect();
    if let [_, _, ..] = texts.as_slice() {
        let valid = validation.flows.iter().filter(|flow| flow.is_valid());
        texts.push(format!(
            "{} of {} flows valid\n",
            valid.count(),
            texts.len()
        ));
    }
    // Blank lines only where there is much to tell apart.
    let is_quiet = texts.iter().all(|text| text.lines().count() == 1);
    texts.join(if is_quiet { "" } else { "\n" })
}
