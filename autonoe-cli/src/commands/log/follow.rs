//! `autonoe log --follow`.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use autonoe_core::{
    JournalEntry, JournalLine, JournalTail, Project, RunId, RunLock, RunStoryBuilder,
};

use super::narrator::Narrator;
use super::{as_json, without_an_end};
use crate::error::CliError;
use crate::results::{Reader, write_result};
use crate::surroundings::Surroundings;

/// How often the journal is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Tells what has happened in the last run and what happens, until it ends.
pub(super) fn follow(
    project: &Project,
    json: bool,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let mut narrator = Narrator::of(project);
    // Looked at before the journal is: what is written after that is read below.
    let mut is_under_way = RunLock::is_held(project)?;
    let mut tail = JournalTail::from_last_run(&project.journal_path())?;
    let mut entries = of_last_run(tail.read_new()?);
    if entries.is_empty() && !is_under_way {
        surroundings.note("no run is under way; `autonoe run` starts one");
    }
    let mut story: Option<(RunId, RunStoryBuilder)> = None;
    loop {
        for entry in &entries {
            let same = story.take().filter(|(run, _)| *run == entry.run);
            let begin = || {
                let story = RunStoryBuilder::new(entry.run.clone());
                (entry.run.clone(), story.without_blocked_calls())
            };
            story.insert(same.unwrap_or_else(begin)).1.add(entry);
        }
        if write(&entries, &mut narrator, json)? == Reader::Gone || !is_under_way {
            break;
        }
        thread::sleep(PAUSE);
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
    if !json && let Some((_, story)) = story {
        surroundings.say(&without_an_end(&story.build(), false))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps the lines of the run that the last of them is about.
fn of_last_run(mut entries: Vec<JournalEntry>) -> Vec<JournalEntry> {
    let last: Option<RunId> = entries.last().map(|entry| entry.run.clone());
    entries.retain(|entry| Some(&entry.run) == last.as_ref());
    entries
}

fn write(
    entries: &[JournalEntry],
    narrator: &mut Narrator,
    json: bool,
) -> Result<Reader, CliError> {
    let mut text = String::new();
    for entry in entries {
        match json {
            true => text.push_str(&as_json(entry)?),
            false => narrator.tell(entry, &mut text),
        }
    }
    Ok(write_result(&text)?)
}
