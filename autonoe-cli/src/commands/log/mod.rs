//! `autonoe log`: prints the journal of runs.

mod follow;
mod output;
mod selection;

use std::process::ExitCode;

use autonoe_app::text::EntryFormatter;
use autonoe_core::RunId;
use autonoe_core::project::{
    JournalEntry, JournalIndex, RunHistory, RunHistoryBuilder, RunLock, RunStopReason,
};

use self::follow::follow;
use self::output::Output;
use self::selection::Selection;
use super::run_lookup::find_run;
use crate::args::LogArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::results::ReaderState;

/// Prints the history of a run.
///
/// Prints while it reads, so a journal of any length needs memory for one line only.
pub(crate) fn log(args: &LogArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    if args.follow {
        return follow(&project, args.json, env);
    }
    let selection = Selection::from_args(args);
    let mut journal = match selection {
        Selection::Last => JournalIndex::read(&project.journal_path())?,
        Selection::Run(_) | Selection::All => JournalIndex::read_all(&project)?,
    };
    let runs = journal.runs().to_vec();
    let selected: Vec<&RunId> = match &selection {
        Selection::All => runs.iter().collect(),
        Selection::Last => runs.last().into_iter().collect(),
        Selection::Run(id) => vec![find_run(&runs, id)?],
    };
    let mut output = Output::default();
    if args.json {
        let entries = match (&selection, selected.first()) {
            (Selection::All, _) | (_, None) => journal.all_entries(),
            (_, Some(run)) => journal.entries(run),
        };
        for entry in entries {
            if output.add(&as_json(&entry?)?)? == ReaderState::Closed {
                break;
            }
        }
        output.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    if selected.is_empty() {
        env.print("No run is recorded yet; start one with `autonoe run`.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_under_way = RunLock::is_held(&project)?;
    for (index, run) in selected.iter().enumerate() {
        if index > 0 {
            output.add("\n")?;
        }
        let mut formatter = EntryFormatter::new(&project);
        let mut run_history = RunHistoryBuilder::new((*run).clone()).without_denied_calls();
        for entry in journal.entries(run) {
            let entry = entry?;
            let mut text = String::new();
            formatter.format(&entry, &mut text);
            run_history.add(&entry);
            if output.add(&text)? == ReaderState::Closed {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let is_last = runs.last() == Some(*run);
        output.add(&unfinished_note(
            &run_history.build(),
            is_under_way && is_last,
        ))?;
    }
    if let (Selection::Last, earlier @ 1..) = (&selection, runs.len() - 1) {
        let plural = if earlier == 1 { "" } else { "s" };
        output.add(&format!(
            "\n{earlier} earlier run{plural}: `autonoe log --all` shows all runs.\n"
        ))?;
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the last line for an unfinished run; empty for a finished one.
fn unfinished_note(run_history: &RunHistory, is_under_way: bool) -> String {
    let why = run_history.stop_reason();
    match why {
        RunStopReason::Interrupted(_) | RunStopReason::FlowInterrupted { .. } if is_under_way => {
            "The run is in progress; follow it with `autonoe log --follow`.\n".to_owned()
        }
        RunStopReason::Interrupted(_) | RunStopReason::FlowInterrupted { .. } => {
            format!(
                "The run did not finish: {why}. It has cost {}.\n\
                 Run the same command to resume it.\n",
                run_history.cost()
            )
        }
        _ => String::new(),
    }
}

pub(super) fn as_json(entry: &JournalEntry) -> Result<String, CliError> {
    serde_json::to_string(entry)
        .map(|line| format!("{line}\n"))
        .map_err(|error| CliError::failure(format!("a line cannot be written as JSON: {error}")))
}
