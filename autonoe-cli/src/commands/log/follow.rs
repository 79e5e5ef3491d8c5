//! `autonoe log --follow`: prints a run as it progresses.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use autonoe_app::text::EntryFormatter;
use autonoe_core::project::{JournalEntry, JournalTail, RunHistoryBuilder, RunLock};
use autonoe_core::run::JournalLine;
use autonoe_core::{Project, RunId};

use super::{as_json, unfinished_note};
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::results::{ReaderState, write_result};

/// Poll interval of the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Prints the last run, and its new entries until it ends.
pub(super) fn follow(project: &Project, json: bool, env: &CliEnv) -> Result<ExitCode, CliError> {
    let mut formatter = EntryFormatter::new(project);
    // Checked before the journal is read, so that the last lines are still printed.
    let mut is_under_way = RunLock::is_held(project)?;
    let mut tail = JournalTail::from_last_run(&project.journal_path())?;
    let mut entries = last_run_entries(tail.read_new()?);
    if entries.is_empty() && !is_under_way {
        env.print_note("no run is in progress; start one with `autonoe run`");
    }
    let mut run_history: Option<(RunId, RunHistoryBuilder)> = None;
    loop {
        for entry in &entries {
            let current = run_history.take().filter(|(run, _)| *run == entry.run);
            let new_story = || {
                let run_history = RunHistoryBuilder::new(entry.run.clone());
                (entry.run.clone(), run_history.without_denied_calls())
            };
            run_history
                .insert(current.unwrap_or_else(new_story))
                .1
                .add(entry);
        }
        if write(&entries, &mut formatter, json)? == ReaderState::Closed || !is_under_way {
            break;
        }
        thread::sleep(POLL_INTERVAL);
        is_under_way = RunLock::is_held(project)?;
        entries = tail.read_new()?;
        let has_ended = |entry: &JournalEntry| {
            let line = &entry.line;
            matches!(
                line,
                JournalLine::RunEnded { .. } | JournalLine::FlowEnded { .. }
            )
        };
        if entries.iter().any(has_ended) {
            is_under_way = false;
        }
    }
    if !json && let Some((_, run_history)) = run_history {
        env.print(&unfinished_note(&run_history.build(), false))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps only the entries of the run of the last entry.
fn last_run_entries(mut entries: Vec<JournalEntry>) -> Vec<JournalEntry> {
    let last: Option<RunId> = entries.last().map(|entry| entry.run.clone());
    entries.retain(|entry| Some(&entry.run) == last.as_ref());
    entries
}

fn write(
    entries: &[JournalEntry],
    formatter: &mut EntryFormatter,
    json: bool,
) -> Result<ReaderState, CliError> {
    let mut text = String::new();
    for entry in entries {
        if json {
            text.push_str(&as_json(entry)?);
        } else {
            formatter.format(entry, &mut text);
        }
    }
    Ok(write_result(&text)?)
}
