//! `autonoe log`.

mod flow_teller;
mod follow;
mod narrator;
mod output;
mod select;

use std::process::ExitCode;

use autonoe_core::{
    JournalEntry, JournalIndex, RunId, RunLock, RunStory, RunStoryBuilder, WhyStopped,
};

use self::follow::follow;
pub(super) use self::narrator::Narrator;
use self::output::Output;
use self::select::Selection;
use super::which_run::find_run;
use crate::args::LogArgs;
use crate::error::CliError;
use crate::results::Reader;
use crate::surroundings::Surroundings;

/// Tells what happened in a run.
///
/// It prints while it reads, so a journal of any length needs memory for one line.
pub(crate) fn log(args: &LogArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let project = args.project.find(surroundings)?;
    if args.follow {
        return follow(&project, args.json, surroundings);
    }
    let selection = Selection::of(args);
    let mut journal = match selection {
        Selection::Last => JournalIndex::read(&project.journal_path())?,
        Selection::Run(_) | Selection::All => JournalIndex::read_all(&project)?,
    };
    let runs = journal.runs().to_vec();
    let told: Vec<&RunId> = match &selection {
        Selection::All => runs.iter().collect(),
        Selection::Last => runs.last().into_iter().collect(),
        Selection::Run(id) => vec![find_run(&runs, id)?],
    };
    let mut output = Output::default();
    if args.json {
        let entries = match (&selection, told.first()) {
            (Selection::All, _) | (_, None) => journal.all_entries(),
            (_, Some(run)) => journal.entries(run),
        };
        for entry in entries {
            if output.add(&as_json(&entry?)?)? == Reader::Gone {
                break;
            }
        }
        output.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    if told.is_empty() {
        surroundings.say("No run has been written down here yet; `autonoe run` starts one.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_under_way = RunLock::is_held(&project)?;
    for (index, run) in told.iter().enumerate() {
        if index > 0 {
            output.add("\n")?;
        }
        let mut narrator = Narrator::of(&project);
        let mut story = RunStoryBuilder::new((*run).clone()).without_blocked_calls();
        for entry in journal.entries(run) {
            let entry = entry?;
            let mut text = String::new();
            narrator.tell(&entry, &mut text);
            story.add(&entry);
            if output.add(&text)? == Reader::Gone {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let is_last = runs.last() == Some(*run);
        output.add(&without_an_end(&story.build(), is_under_way && is_last))?;
    }
    if let (Selection::Last, earlier @ 1..) = (&selection, runs.len() - 1) {
        let plural = if earlier == 1 { "" } else { "s" };
        output.add(&format!(
            "\n{earlier} earlier run{plural}: `autonoe log --all` tells all of them.\n"
        ))?;
    }
    output.finish()?;
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
                "It did not finish: {why}. It has cost {}.\n\
                 The same command resumes it.\n",
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
