//! Which run of the journal is meant.

use autonoe_core::RunId;

use crate::error::CliError;

/// Finds the one run whose id is `id`, or else begins with it.
pub(super) fn find_run<'r>(runs: &'r [RunId], id: &str) -> Result<&'r RunId, CliError> {
    if id.trim().is_empty() {
        return Err(CliError::usage(
            "--run is blank: write the id of a run, or the beginning of it",
        )
        .with_hint(known(runs)));
    }
    if let Some(exact) = runs.iter().find(|run| run.as_str() == id) {
        return Ok(exact);
    }
    let begin_so: Vec<_> = runs
        .iter()
        .filter(|run| run.as_str().starts_with(id))
        .collect();
    match begin_so[..] {
        [run] => Ok(run),
        [] => {
            let message = format!("the journal tells of no run `{id}`");
            Err(CliError::usage(message).with_hint(known(runs)))
        }
        _ => {
            let ids: Vec<_> = begin_so.iter().map(|run| run.as_str()).collect();
            let message = format!("several runs begin with `{id}`: {}", ids.join(", "));
            Err(CliError::usage(message).with_hint("write more of the id"))
        }
    }
}

/// Says what could have been meant.
fn known(runs: &[RunId]) -> String {
    match runs.last() {
        Some(newest) => {
            format!("the newest is {newest}; `autonoe log --all` tells all of them")
        }
        None => "no run has been written down here yet; `autonoe run` starts one".to_owned(),
    }
}
