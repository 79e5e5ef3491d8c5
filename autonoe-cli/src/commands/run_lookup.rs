//! Finds a run by its ID.

use autonoe_core::RunId;

use crate::error::CliError;

/// Finds the run with the ID `id`, or the only one whose ID starts with it.
pub(super) fn find_run<'r>(runs: &'r [RunId], id: &str) -> Result<&'r RunId, CliError> {
    if id.trim().is_empty() {
        return Err(CliError::usage(
            "--run is empty: pass the ID of a run, or the beginning of it",
        )
        .with_hint(known_runs_hint(runs)));
    }
    if let Some(exact) = runs.iter().find(|run| run.as_str() == id) {
        return Ok(exact);
    }
    let matching: Vec<_> = runs
        .iter()
        .filter(|run| run.as_str().starts_with(id))
        .collect();
    match matching[..] {
        [run] => Ok(run),
        [] => {
            let message = format!("the journal has no run `{id}`");
            Err(CliError::usage(message).with_hint(known_runs_hint(runs)))
        }
        _ => {
            let ids: Vec<_> = matching.iter().map(|run| run.as_str()).collect();
            let message = format!("several runs begin with `{id}`: {}", ids.join(", "));
            Err(CliError::usage(message).with_hint("pass more of the ID"))
        }
    }
}

/// Returns a hint with the newest run.
fn known_runs_hint(runs: &[RunId]) -> String {
    match runs.last() {
        Some(newest) => {
            format!("the newest run is {newest}; `autonoe log --all` shows all runs")
        }
        None => "no run is recorded yet; start one with `autonoe run`".to_owned(),
    }
}
