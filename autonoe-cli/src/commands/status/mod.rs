//! `autonoe status`.

mod json;
mod table;

use std::process::ExitCode;

use autonoe_core::{FileDeliverableRepository, RunLock};

pub(super) use self::json::Status;
use self::table::shown;
use crate::args::StatusArgs;
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Shows the deliverables and how far they are.
pub(crate) fn status(args: &StatusArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    let ledger = FileDeliverableRepository::at(project.status_path()).load_now()?;
    if ledger.is_none() {
        project.check_journal_has_no_deliverables()?;
    }
    let state = ledger.map(|snapshot| snapshot.state);
    if args.json {
        surroundings.say_json(&Status::of(state.as_ref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = match &state {
        None => "There are no deliverables yet.\n\
            `autonoe run` plans them from SPEC.md; `autonoe init` begins a SPEC.md.\n"
            .to_owned(),
        Some(state) => shown(state, surroundings.columns),
    };
    if let Some(held) = RunLock::held(&project)? {
        let note = match (held.survivors(), &held.holder) {
            ([_, ..], _) => format!("An agent of a killed run is still alive: {held}."),
            ([], Some(run)) => {
                format!("A run is under way ({run}): `autonoe log --follow` shows it.")
            }
            ([], None) => "A run is under way: `autonoe log --follow` shows it.".to_owned(),
        };
        text.push_str(&format!("\n{note}\n"));
    }
    surroundings.say(&text)?;
    Ok(ExitCode::SUCCESS)
}
