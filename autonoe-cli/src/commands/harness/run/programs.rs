//! Programs that the commands of a roadmap name.

use std::path::Path;

use autonoe_harness::{PlannedTask, Roadmap};
use autonoe_process::find_program;
use serde_json::Value;

use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Looks whether the programs of checks are there, and returns what is odd: who is not found by PATH
/// may come, because an agent may make it.
///
/// # Errors
///
/// A path names none. Nobody makes programs outside of the project.
pub(super) fn check(
    file: &Path,
    roadmap: &Roadmap,
    surroundings: &Surroundings,
) -> Result<Vec<String>, CliError> {
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    let path = surroundings.variable("PATH").unwrap_or_default();
    for planned in roadmap.tasks.iter().filter(|planned| !planned.is_done) {
        let place = format!("{}:{}", file.display(), planned.line);
        let task = &planned.task.id;
        for program in programs_of(planned) {
            let told = format!("{place}: the task {task} is checked by {program:?}");
            if Path::new(&program).is_absolute() {
                if !Path::new(&program).is_file() {
                    wrong.push(format!("{told}, and there is no such program"));
                }
            } else if !program.contains('/') && find_program(&program, path.as_ref()).is_none() {
                odd.push(format!("{told}, which is not on PATH now"));
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(odd),
        false => Err(CliError::failure(format!(
            "the roadmap cannot be followed\n{}",
            wrong.join("\n")
        ))),
    }
}

/// Returns the programs of the commands that look whether a task is done.
fn programs_of(planned: &PlannedTask) -> Vec<String> {
    let criteria = serde_json::to_value(&planned.task.success_criteria);
    let mut programs = Vec::new();
    let mut left = vec![criteria.unwrap_or_default()];
    while let Some(value) = left.pop() {
        if let Some(program) = value["command"][0].as_str() {
            programs.push(program.to_owned());
        }
        match value {
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, value)| value)),
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    programs.sort();
    programs.dedup();
    programs
}
