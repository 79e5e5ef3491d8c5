//! `autonoe engine logs`.

use autonoe_core::{Engine, RunId, RunOutcome, RunPhase, RunView};

use super::again::again;
use super::journal_formatter::{JournalFormatter, Progress};
use super::place;
use super::remote::{News, PAUSE, RemoteJournal};
use super::status::{cancelled, ended, sessions, trouble};
use super::trouble::{Row, Trouble};
use super::watching::watch;
use crate::args::{EngineLogsArgs, EngineRunArgs};
use crate::error::CliError;
use crate::present::harmless_line;
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
    let mut journal = RemoteJournal::new(&engine, project, run.clone())?;
    let mut formatter = JournalFormatter::new(args.json);
    let view = match args.follow {
        true => {
            let note = |words: &str| surroundings.note(words);
            let followed = follow(&engine, run, &mut journal, &mut formatter, &note).await;
            journal.let_go().await;
            let Some(view) = followed? else {
                return Ok(());
            };
            view
        }
        false => {
            let news = journal.rest().await?;
            write_result(&formatter.format(&news.entries?)?)?;
            news.view
        }
    };
    if !args.json {
        surroundings.say(&afterwards(&args.which, &view, formatter.progress()))?;
    } else if formatter.progress() == Progress::Nothing {
        surroundings.note("the run has written nothing down yet");
        if let Some(trouble) = trouble(&view) {
            surroundings.note(&trouble);
        }
    }
    Ok(())
}

/// Tells what a run writes down until it has ended, and returns how it stands then. `None` if nobody
/// listens any more.
async fn follow(
    engine: &dyn Engine,
    run: &RunId,
    journal: &mut RemoteJournal<'_>,
    formatter: &mut JournalFormatter,
    note: &dyn Fn(&str),
) -> Result<Option<RunView>, CliError> {
    let mut row = Row::default();
    let mut hear = |news: Result<News, Trouble>| match news.and_then(|news| news.entries) {
        Ok(entries) => {
            row.is_over();
            Ok(write_result(&formatter.format(&entries)?)?)
        }
        Err(trouble) => {
            if let Some(trouble) = row.bear(trouble)? {
                let words = format!("what happens cannot be told for now: {trouble}");
                note(&harmless_line(&words));
            }
            Ok(Reader::There)
        }
    };
    if watch(engine, run, journal, &mut hear).await?.is_none() {
        return Ok(None);
    }
    loop {
        let rest = journal.rest().await;
        let read = rest.as_ref().ok().filter(|news| news.entries.is_ok());
        let view = read.map(|news| news.view.clone());
        match (hear(rest)?, view) {
            (Reader::Gone, _) => return Ok(None),
            (Reader::There, Some(view)) => return Ok(Some(view)),
            (Reader::There, None) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Says how the run stands after what it has written down.
fn afterwards(which: &EngineRunArgs, view: &RunView, printed: Progress) -> String {
    let run = &which.run;
    let mut text = match printed {
        Progress::Nothing => format!("The run {run} has written nothing down yet.\n"),
        Progress::Lines | Progress::End => String::new(),
    };
    if let Some(trouble) = trouble(view) {
        text.push_str(&format!("{trouble}\n"));
    }
    match (&view.outcome, view.phase) {
        (Some(outcome), _) => {
            for line in untold(outcome, printed) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        (None, RunPhase::Waiting) if view.host.is_none() => {
            text.push_str("No host has taken it yet.\n");
        }
        (None, _) => {
            let follow = again(&format!("logs {run} --follow"), &which.engine);
            text.push_str(&format!("It is under way; {follow} tells what comes.\n"));
        }
    }
    text
}

/// Says of the end of a run what its journal has not told.
fn untold(outcome: &RunOutcome, printed: Progress) -> Vec<String> {
    match printed {
        Progress::End => cancelled(outcome).into_iter().collect(),
        Progress::Nothing | Progress::Lines => ended(outcome),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use autonoe_core::{ExitReason, Mode, ProjectName, RunLimits, RunMachine};
    use jiff::Timestamp;

    use super::super::away::Away;
    use super::*;

    /// Follows a run, and returns what was noted.
    async fn followed(engine: &Away) -> (Result<Option<RunView>, CliError>, Vec<String>) {
        let shop = ProjectName::new("shop").expect("a name");
        let run = RunId::new("shop-1");
        let journal = RemoteJournal::new(engine, shop, run.clone());
        let mut journal = journal.expect("random numbers");
        let noted = RefCell::new(Vec::new());
        let note = |words: &str| noted.borrow_mut().push(words.to_owned());
        let mut formatter = JournalFormatter::new(false);
        let view = follow(engine, &run, &mut journal, &mut formatter, &note).await;
        (view, noted.into_inner())
    }

    #[test]
    fn the_end_is_told_once_by_the_journal_or_after_it() {
        let machine = RunMachine::new(RunLimits::new(Mode::Run));
        let run = RunId::new("shop-1");
        let report = machine.report(&run, ExitReason::Interrupted, Timestamp::UNIX_EPOCH);
        let output = serde_json::to_value(&report).expect("JSON");
        let outcome = RunOutcome::cancelled("enough").with_output(output);

        let [not_yet, by_journal] = [Progress::Lines, Progress::End].map(|it| untold(&outcome, it));

        assert_eq!(by_journal, ["It was cancelled: enough"]);
        assert_eq!(not_yet[..1], by_journal);
        assert!(not_yet[1].starts_with("Run shop-1 ended:"), "{not_yet:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn that_the_server_is_away_is_said_once_and_borne_for_a_while() {
        let words = "what happens cannot be told for now: the engine failed: the server is away";

        let (back, noted) = followed(&Away::for_times(3)).await;
        let (gone, noted_too) = followed(&Away::for_ever()).await;

        let view = back.expect("it has come back").expect("somebody listens");
        assert_eq!(view.phase, RunPhase::Ended);
        assert_eq!((noted, noted_too), (vec![words.into()], vec![words.into()]));
        assert!(gone.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn that_only_the_end_is_not_told_is_said_once() {
        let (back, noted) = followed(&Away::for_times(3).but_tells_status()).await;
        let (gone, noted_too) = followed(&Away::for_ever().but_tells_status()).await;

        assert!(back.expect("it has come back").is_some());
        assert_eq!((noted.len(), noted_too.len()), (1, 1), "{noted_too:?}");
        assert!(gone.is_err());
    }
}
