//! `autonoe engine logs`.

use autonoe_core::{Engine, JournalEntry, RunId, RunPhase, RunView};

use super::journal::{News, RemoteJournal};
use super::place;
use super::status::{ended, sessions};
use super::watching::watch;
use crate::args::EngineLogsArgs;
use crate::commands::log::{Narrator, as_json};
use crate::error::CliError;
use crate::results::{Reader, write_result};
use crate::surroundings::Surroundings;

/// Tells what a run has written down on its host.
pub(super) async fn logs(
    args: &EngineLogsArgs,
    surroundings: &Surroundings,
) -> Result<(), CliError> {
    let run = &args.which.run;
    let engine = place::find(&args.which.engine, surroundings).await?;
    let view = engine.status(run).await?;
    let project = sessions(&view).and_then(|run| run.project().ok());
    let Some(project) = project else {
        return Err(CliError::failure(format!(
            "the run {run} is none on a project, so it has no journal"
        )));
    };
    let mut journal = RemoteJournal::of(&engine, project, run.clone())?;
    let mut teller = Teller::new(args.json);
    let view = match args.follow {
        true => {
            let mut hear = |news: Result<News, CliError>| teller.tell(&news?.entries);
            let watched = watch(&engine, run, &mut journal, &mut hear).await;
            journal.let_go().await;
            if watched?.is_none() {
                return Ok(());
            }
            engine.status(run).await?
        }
        false => {
            let news = journal.rest().await?;
            teller.tell(&news.entries)?;
            news.view
        }
    };
    if !args.json {
        surroundings.say(&afterwards(run, &view, teller.has_told))?;
    } else if !teller.has_told {
        surroundings.note("the run has written nothing down yet");
    }
    Ok(())
}

/// Writes lines as `autonoe log` does.
struct Teller {
    narrator: Narrator,
    json: bool,
    has_told: bool,
}

impl Teller {
    fn new(json: bool) -> Self {
        Self {
            narrator: Narrator::elsewhere(),
            json,
            has_told: false,
        }
    }

    fn tell(&mut self, entries: &[JournalEntry]) -> Result<Reader, CliError> {
        self.has_told |= !entries.is_empty();
        let mut text = String::new();
        for entry in entries {
            match self.json {
                true => text.push_str(&as_json(entry)?),
                false => self.narrator.tell(entry, &mut text),
            }
        }
        Ok(write_result(&text)?)
    }
}

/// Says how the run stands after what it has written down.
fn afterwards(run: &RunId, view: &RunView, has_told: bool) -> String {
    let mut text = match has_told {
        true => String::new(),
        false => format!("The run {run} has written nothing down yet.\n"),
    };
    match (&view.outcome, view.phase) {
        (Some(outcome), _) => {
            for line in ended(outcome) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        (None, RunPhase::Waiting) if view.host.is_none() => {
            text.push_str("No host has taken it yet.\n");
        }
        (None, _) => text.push_str(&format!(
            "It is under way; `autonoe engine logs {run} --follow` tells what comes.\n"
        )),
    }
    text
}
