//! `autonoe log`.

mod flow_teller;
mod follow;
mod narrator;
mod select;

use std::process::ExitCode;

use autonoe_core::{Journal, JournalEntry, RunLock, RunStory, WhyStopped};

use self::follow::follow;
pub(super) use self::narrator::Narrator;
use self::select::Selection;
use super::which_run::find_run;
use crate::args::LogArgs;
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Tells what happened in a run.
pub(crate) fn log(args: &LogArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    if args.follow {
        return follow(&project, args.json, surroundings);
    }
    let selection = Selection::of(args);
    let journal = match selection {
        Selection::Last => Journal::read(&project.journal_path())?,
        Selection::Run(_) | Selection::All => Journal::read_all(&project)?,
    };
    let stories = journal.stories();
    let told: Vec<&RunStory> = match &selection {
        Selection::All => stories.iter().collect(),
        Selection::Last => stories.last().into_iter().collect(),
        Selection::Run(id) => vec![find_run(&stories, id)?],
    };
    let entries = journal.entries();
    if args.json {
        let lines = entries
            .iter()
            .filter(|entry| told.iter().any(|story| story.run == entry.run))
            .map(as_json)
            .collect::<Result<String, _>>()?;
        surroundings.say(&lines)?;
        return Ok(ExitCode::SUCCESS);
    }
    if told.is_empty() {
        surroundings.say("No run has been written down here yet; `autonoe run` starts one.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_under_way = RunLock::is_held(&project)?;
    let mut text = String::new();
    for (index, story) in told.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let mut narrator = Narrator::of(&project);
        for entry in entries.iter().filter(|entry| entry.run == story.run) {
            narrator.tell(entry, &mut text);
        }
        let is_last = stories.last().is_some_and(|last| last.run == story.run);
        text.push_str(&without_an_end(story, is_under_way && is_last));
    }
    if let (Selection::Last, earlier @ 1..) = (&selection, stories.len() - 1) {
        let plural = if earlier == 1 { "" } else { "s" };
        text.push_str(&format!(
            "\n{earlier} earlier run{plural}: `autonoe log --all` tells all of them.\n"
        ));
    }
    surroundings.say(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Says what there is to say about a run that has not come to its end.
fn without_an_end(story: &RunStory, is_under_way: bool) -> String {
    let why = story.why_did_it_stop();
    match why {
        WhyStopped::BrokeOff(_) | WhyStopped::FlowBrokeOff { .. } if is_under_way => {
            "It is under way; `autonoe log --follow` tells what comes.\n".to_owned()
        }
        WhyStopped::BrokeOff(_) | WhyStopped::FlowBrokeOff { .. } => {
            format!(
                "It did not come to its end: {why}. It has cost {}.\n\
                 The same command goes on with it.\n",
                story.cost()
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
