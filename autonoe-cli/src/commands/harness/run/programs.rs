//! Checks the programs that the criteria of a roadmap run.

use std::path::Path;

use autonoe_harness::Roadmap;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_process::find_program;
use serde_json::Value;

use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Checks the programs of criteria, and returns a warning for each that is not on `PATH`. An agent
/// may still create such a program.
///
/// # Errors
///
/// An absolute path names no program. Agents create no programs outside of the project.
pub(super) fn check(file: &Path, roadmap: &Roadmap, env: &CliEnv) -> Result<Vec<String>, CliError> {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let path = env.variable("PATH").unwrap_or_default();
    for planned in roadmap.tasks.iter().filter(|planned| !planned.is_done) {
        let place = format!("{}:{}", file.display(), planned.line);
        let task = &planned.task.id;
        for program in programs_of(planned) {
            let description = format!("{place}: the task {task} is checked by {program:?}");
            if Path::new(&program).is_absolute() {
                if !Path::new(&program).is_file() {
                    errors.push(format!("{description}, which does not exist"));
                }
            } else if !program.contains('/') && find_program(&program, path.as_ref()).is_none() {
                warnings.push(format!("{description}, which is not on PATH now"));
            }
        }
    }
    if errors.is_empty() {
        Ok(warnings)
    } else {
        Err(CliError::failure(format!(
            "the roadmap is invalid\n{}",
            errors.join("\n")
        )))
    }
}

/// Returns the programs that the criteria of a task run.
fn programs_of(planned: &PlannedTask) -> Vec<String> {
    let criteria = serde_json::to_value(&planned.task.success_criteria);
    let mut programs = Vec::new();
    let mut pending = vec![criteria.unwrap_or_default()];
    while let Some(value) = pending.pop() {
        if let Some(program) = value["command"][0].as_str() {
            programs.push(program.to_owned());
        }
        match value {
            Value::Object(fields) => pending.extend(fields.into_iter().map(|(_, value)| value)),
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    programs.sort();
    programs.dedup();
    programs
}
