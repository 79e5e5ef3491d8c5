//! `autonoe report`: writes the HTML report of a run.

use std::process::ExitCode;

use autonoe_core::project::{Journal, RunHistory};

use super::log::find_run;
use super::output_file::write_output;
use crate::args::ReportArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::report::{Facts, is_page, page};

/// Writes the HTML report of a run, which a browser shows without a network.
pub(crate) fn report(args: &ReportArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    let journal = match &args.run {
        None => Journal::read(&project.journal_path())?,
        // The run may be in an archived journal.
        Some(_) => Journal::read_all(&project)?,
    };
    let histories = journal.run_histories();
    let run_history = find_history(&histories, args.run.as_deref())?;
    let facts = Facts::collect(&project, &journal, &histories, run_history)?;
    let html = page(&facts);
    write_output(&html, &args.output, "the page", is_page, &project, env)?;
    Ok(ExitCode::SUCCESS)
}

/// Finds the run whose ID starts with `id`, or the newest one.
fn find_history<'s>(
    histories: &'s [RunHistory],
    id: Option<&str>,
) -> Result<&'s RunHistory, CliError> {
    match id {
        Some(id) => {
            let runs: Vec<_> = histories
                .iter()
                .map(|run_history| run_history.run.clone())
                .collect();
            let run = find_run(&runs, id)?;
            let mut matches = histories
                .iter()
                .filter(|run_history| run_history.run == *run);
            matches
                .next()
                .ok_or_else(|| CliError::failure("the run no longer exists"))
        }
        None => histories.last().ok_or_else(|| {
            CliError::failure("this project has no runs").with_hint("start one with `autonoe run`")
        }),
    }
}
