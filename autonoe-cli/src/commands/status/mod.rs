//! `autonoe status`: prints the deliverables.

mod json;
mod table;

use std::process::ExitCode;

use autonoe_core::project::{FileDeliverableRepository, RunLock};

pub(super) use self::json::Status;
use self::table::format_table;
use crate::args::StatusArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Prints the deliverables and their status.
pub(crate) fn status(args: &StatusArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let ledger = FileDeliverableRepository::at(project.status_path()).load_now()?;
    if ledger.is_none() {
        project.check_journal_has_no_deliverables()?;
    }
    let state = ledger.map(|snapshot| snapshot.state);
    if args.json {
        env.print_json(&Status::new(state.as_ref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = match &state {
        None => "There are no deliverables yet.\n\
            `autonoe run` plans them from SPEC.md; `autonoe init` creates a SPEC.md.\n"
            .to_owned(),
        Some(state) => format_table(state, env.columns),
    };
    if let Some(held) = RunLock::held(&project)? {
        let note = match (held.survivors(), &held.holder) {
            ([_, ..], _) => format!("An agent of a killed run is still alive: {held}."),
            ([], Some(run)) => {
                format!("A run is in progress ({run}): follow it with `autonoe log --follow`.")
            }
            ([], None) => "A run is in progress: follow it with `autonoe log --follow`.".to_owned(),
        };
        text.push_str(&format!("\n{note}\n"));
    }
    env.print(&text)?;
    Ok(ExitCode::SUCCESS)
}
