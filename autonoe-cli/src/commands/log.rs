//! `autonoe log`: prints the journal of runs, once or as a run progresses.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use autonoe_app::text::{EntryFormatter, pluralize};
use autonoe_core::project::{
    JournalEntry, JournalIndex, JournalTail, RunHistory, RunLock, RunStopReason,
};
use autonoe_core::run::JournalLine;
use autonoe_core::{Project, RunId};

use super::status::{PROJECT_FILES, missing_project_note};
use crate::args::LogArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::results::{ReaderState, WriteError, write_result};

/// Prints the history of a run.
///
/// Prints while it reads, so a journal of any length needs memory for one line only.
pub(crate) fn log(args: &LogArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let project = args.project.find(env)?;
    if args.follow {
        return follow(&project, args.json, env);
    }
    let is_last = args.run.is_none() && !args.all;
    let mut journal = if is_last {
        JournalIndex::read(&project.journal_path())?
    } else {
        JournalIndex::read_all(&project)?
    };
    let runs = journal.runs().to_vec();
    let selected: Vec<&RunId> = match &args.run {
        Some(id) => vec![find_run(&runs, id)?],
        None if args.all => runs.iter().collect(),
        None => runs.last().into_iter().collect(),
    };
    let mut output = Output::default();
    if args.json {
        let entries = match selected.first() {
            Some(run) if !args.all => journal.entries(run),
            _ => journal.all_entries(),
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
        if let Some(note) = missing_project_note(&project, PROJECT_FILES) {
            env.print(&format!("{note}\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let is_in_progress = RunLock::is_held(&project)?;
    for (index, run) in selected.iter().enumerate() {
        if index > 0 {
            output.add("\n")?;
        }
        let mut formatter = EntryFormatter::new(&project);
        let mut run_history = RunHistory::new((*run).clone());
        for entry in journal.entries(run) {
            let entry = entry?;
            let mut text = String::new();
            formatter.format(&entry, &mut text);
            run_history.add(&entry);
            if output.add(&text)? == ReaderState::Closed {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let is_newest = runs.last() == Some(*run);
        output.add(&unfinished_note(&run_history, is_in_progress && is_newest))?;
    }
    if let (true, earlier @ 1..) = (is_last, runs.len() - 1) {
        let earlier = pluralize(earlier as u64, "earlier run");
        output.add(&format!(
            "\n{earlier}: `autonoe log --all` shows all runs.\n"
        ))?;
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the last line for an unfinished run; empty for a finished one.
fn unfinished_note(run_history: &RunHistory, is_in_progress: bool) -> String {
    let stop_reason = run_history.stop_reason();
    match stop_reason {
        RunStopReason::Interrupted(_) | RunStopReason::FlowInterrupted { .. } if is_in_progress => {
            "The run is in progress; follow it with `autonoe log --follow`.\n".to_owned()
        }
        RunStopReason::Interrupted(_) | RunStopReason::FlowInterrupted { .. } => {
            format!(
                "The run did not finish: {stop_reason}. It has cost {}.\n\
                 Run the same command to resume it.\n",
                run_history.cost()
            )
        }
        _ => String::new(),
    }
}

fn as_json(entry: &JournalEntry) -> Result<String, CliError> {
    serde_json::to_string(entry)
        .map(|line| format!("{line}\n"))
        .map_err(|error| CliError::failure(format!("a line cannot be written as JSON: {error}")))
}

/// Buffer size that triggers a write, in bytes.
const BUFFER_LEN: usize = 64 * 1024;

/// Buffer for standard output.
#[derive(Debug, Default)]
struct Output {
    buffer: String,
}

impl Output {
    /// Adds `text`, and writes the buffer once it is full. After [`ReaderState::Closed`], further output
    /// is pointless.
    fn add(&mut self, text: &str) -> Result<ReaderState, WriteError> {
        self.buffer.push_str(text);
        if self.buffer.len() >= BUFFER_LEN {
            self.write()
        } else {
            Ok(ReaderState::Open)
        }
    }

    /// Writes the rest of the buffer.
    fn finish(mut self) -> Result<(), WriteError> {
        self.write().map(|_| ())
    }

    fn write(&mut self) -> Result<ReaderState, WriteError> {
        let written = write_result(&self.buffer);
        self.buffer.clear();
        written
    }
}

/// Poll interval of the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Prints the last run, and its new entries until it ends.
fn follow(project: &Project, json: bool, env: &CliEnv) -> Result<ExitCode, CliError> {
    let mut formatter = EntryFormatter::new(project);
    // Checked before the journal is read, so that the last lines are still printed.
    let mut is_in_progress = RunLock::is_held(project)?;
    let mut tail = JournalTail::from_last_run(&project.journal_path())?;
    let mut entries = last_run_entries(tail.read_new()?);
    if entries.is_empty() && !is_in_progress {
        env.print_note("no run is in progress; start one with `autonoe run`");
    }
    let mut run_history: Option<RunHistory> = None;
    loop {
        for entry in &entries {
            let current = run_history.take().filter(|known| known.run == entry.run);
            let new_history = || RunHistory::new(entry.run.clone());
            run_history
                .insert(current.unwrap_or_else(new_history))
                .add(entry);
        }
        if write(&entries, &mut formatter, json)? == ReaderState::Closed || !is_in_progress {
            break;
        }
        thread::sleep(POLL_INTERVAL);
        is_in_progress = RunLock::is_held(project)?;
        entries = tail.read_new()?;
        let has_ended = |entry: &JournalEntry| {
            let line = &entry.line;
            matches!(
                line,
                JournalLine::RunEnded { .. } | JournalLine::FlowEnded { .. }
            )
        };
        if entries.iter().any(has_ended) {
            is_in_progress = false;
        }
    }
    if !json && let Some(run_history) = run_history {
        env.print(&unfinished_note(&run_history, false))?;
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

/// Finds the run with the ID `id`, or the only one whose ID starts with it.
pub(super) fn find_run<'r>(runs: &'r [RunId], id: &str) -> Result<&'r RunId, CliError> {
    if id.trim().is_empty() {
        return Err(
            CliError::usage("--run is empty: pass the ID of a run, or a prefix of it")
                .with_hint(known_runs_hint(runs)),
        );
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
            let message = format!("several run IDs start with `{id}`: {}", ids.join(", "));
            Err(CliError::usage(message).with_hint("pass a longer prefix"))
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
