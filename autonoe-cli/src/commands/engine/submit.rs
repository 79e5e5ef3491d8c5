//! `autonoe submit`.

use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::Arc;

use autonoe_core::{
    Engine, IdSource, JournalEntry, JournalLine, RandomIds, RunEnding, RunId, RunOutcome,
    RunReport, RunSpec,
};
use jiff::Timestamp;
use serde::Serialize;

use super::again::again;
use super::journal_formatter::JournalFormatter;
use super::place;
use super::remote::{News, RemoteJournal};
use super::status::{ended, report};
use super::trouble::Trouble;
use super::view_changes::{ViewChange, ViewChanges};
use super::watching::watch;
use crate::args::{OutputFormat, SubmitArgs};
use crate::commands::run::{hint, shown};
use crate::commands::signals;
use crate::commands::stage::Stage;
use crate::error::CliError;
use crate::exit_code;
use crate::present::{Presenter, harmless_line};
use crate::results::{Reader, write_result};
use crate::surroundings::Surroundings;

/// What `autonoe submit --output json` prints.
#[derive(Serialize)]
struct Submitted<'a> {
    run: &'a RunId,
}

/// The last line of `autonoe submit --wait --output json`.
#[derive(Serialize)]
struct Ended<'a> {
    run: &'a RunId,
    report: &'a RunReport,
}

/// How far it was waited.
enum Waited {
    /// Until a person had enough of it, before the engine has answered.
    Unanswered,
    /// Until the engine has the run.
    Submitted,
    /// Until a person had enough of it. The run goes on.
    Left,
    /// To the end.
    Ended(Box<RunOutcome>),
}

/// Has an engine carry out a run on a project.
pub(crate) fn submit(args: &SubmitArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let run = spec(args)?;
    let id = run.id.clone();
    let mut stage = Stage::elsewhere(&args.output, surroundings);
    let watching = Watching {
        args,
        run: id.clone(),
        presenter: stage.presenter(),
    };
    let waited = stage.see_through(async {
        let mut interrupted = pin!(signals::asked_from_now());
        let taking = async {
            let engine = place::find(&args.engine, surroundings).await?;
            engine.submit(run, args.place()).await?;
            Ok::<_, CliError>(engine)
        };
        let engine = tokio::select! {
            biased;
            () = &mut interrupted => return Ok(Waited::Unanswered),
            taken = taking => taken?,
        };
        match args.wait {
            true => watching.wait(&engine, interrupted).await,
            false => Ok(Waited::Submitted),
        }
    })?;
    match waited? {
        Waited::Unanswered => {
            let words = format!("nobody has said yet whether the run {id} is taken");
            surroundings.note(&format!("{words}; if it is, {}", ways(args, &id)));
            Ok(exit_code::INTERRUPTED.into())
        }
        Waited::Submitted => tell_id(args, &id, surroundings),
        Waited::Left => {
            surroundings.note(&format!("the run {id} goes on; {}", ways(args, &id)));
            Ok(exit_code::INTERRUPTED.into())
        }
        Waited::Ended(outcome) => tell_end(args, &stage, &id, &outcome, surroundings),
    }
}

fn spec(args: &SubmitArgs) -> Result<RunSpec, CliError> {
    let id = match &args.run {
        Some(id) => id.clone(),
        None => {
            let ids = RandomIds::new().map_err(|error| CliError::failure(error.to_string()))?;
            let ids: &dyn IdSource = &ids;
            ids.run_id()
        }
    };
    let run = args.sessions().named(id);
    run.map_err(|error| CliError::failure(error.to_string()))
}

/// Says how to follow a run, and how to end it.
fn ways(args: &SubmitArgs, run: &RunId) -> String {
    let follow = again(&format!("logs {run} --follow"), &args.engine);
    let cancel = again(&format!("cancel {run}"), &args.engine);
    format!("{follow} tells it, {cancel} ends it")
}

/// Prints the id, which is the result of who does not wait.
fn tell_id(
    args: &SubmitArgs,
    id: &RunId,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let told = match args.output.output {
        OutputFormat::Json => surroundings.say_json(&Submitted { run: id }),
        OutputFormat::Text => surroundings.say(&format!("{id}\n")),
    };
    told.map_err(|error| {
        error.with_hint(format!("the run {id} was submitted; {}", ways(args, id)))
    })?;
    if !args.output.quiet {
        surroundings.note(&format!("the run {id} was submitted; {}", ways(args, id)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells what a run came to as `autonoe run` does.
fn tell_end(
    args: &SubmitArgs,
    stage: &Stage,
    id: &RunId,
    outcome: &RunOutcome,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    if let RunEnding::Cancelled { reason } = &outcome.ending
        && !reason.is_empty()
    {
        stage.warn(&format!("the run was cancelled: {reason}"));
    }
    let status = again(&format!("status {id}"), &args.engine);
    let kept = format!("the end is kept: {status} tells it");
    let Some(report) = report(outcome) else {
        let words = ended(outcome).join("; ");
        let error = CliError::failure(format!("the run {id} gave no report: {words}"));
        return Err(match outcome.ending {
            RunEnding::Cancelled { .. } => error.with_code(exit_code::INTERRUPTED),
            RunEnding::Succeeded | RunEnding::Failed { .. } => error,
        });
    };
    let printed = match args.output.output {
        OutputFormat::Json => {
            let report = &report;
            let line = serde_json::to_string(&Ended { run: id, report });
            let line = line.map_err(|error| CliError::failure(error.to_string()))?;
            surroundings.say(&format!("{line}\n"))
        }
        OutputFormat::Text => surroundings.say(&shown(&report)),
    };
    printed.map_err(|error| error.with_hint(kept))?;
    if let Some(hint) = hint(&report.exit) {
        surroundings.note(&format!("  hint: {}", harmless_line(&hint)));
    }
    Ok(exit_code::of(&report.exit).into())
}

/// Waits for the end of a run, and prints its journal meanwhile.
struct Watching<'a> {
    args: &'a SubmitArgs,
    run: RunId,
    presenter: Arc<Presenter>,
}

impl Watching<'_> {
    async fn wait(
        self,
        engine: &dyn Engine,
        interrupted: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Waited, CliError> {
        let Self { args, run, .. } = &self;
        self.presenter.say(&format!("Run {run} was submitted"));
        let is_json = args.output.output == OutputFormat::Json;
        let mut formatter = JournalFormatter::new(is_json);
        let mut changes = ViewChanges::default();
        let mut journal = RemoteJournal::new(engine, args.project().clone(), run.clone())?;
        let mut is_unreadable = false;
        let mut on_news = |news: Result<News, Trouble>| {
            let printed = news.and_then(|News { view, entries }| {
                let printed = entries.map(|entries| self.print(&entries, &mut formatter));
                for change in changes.update(&view, Timestamp::now()) {
                    match change {
                        ViewChange::Info(line) => self.presenter.say(&line),
                        ViewChange::Warning(line) => self.presenter.warn(&line),
                    }
                }
                printed
            });
            match printed {
                Ok(reader) => {
                    is_unreadable = false;
                    reader
                }
                // The run itself is not affected. The warning comes once until a page is read.
                Err(trouble) => {
                    if !is_unreadable {
                        let warning = format!("cannot read the journal for now: {trouble}");
                        self.presenter.warn(&warning);
                    }
                    is_unreadable = true;
                    Ok(Reader::There)
                }
            }
        };
        let watched = tokio::select! {
            biased;
            () = interrupted => None,
            watched = async {
                let ended = watch(engine, run, &mut journal, &mut on_news).await?;
                on_news(journal.last().await)?;
                Ok::<_, CliError>(ended)
            } => Some(watched),
        };
        journal.let_go().await;
        let printed = self.print(&journal.left(), &mut formatter);
        match watched {
            None | Some(Ok(None)) => printed.map(|_| Waited::Left),
            // The outcome matters more than lines that cannot be written.
            Some(Ok(Some(outcome))) => Ok(Waited::Ended(Box::new(outcome))),
            Some(Err(error)) => {
                let hint = format!("the run {run} may go on; {}", ways(args, run));
                Err(error.with_hint(hint))
            }
        }
    }

    /// Prints entries: JSON lines as results, sentences on the screen.
    fn print(
        &self,
        entries: &[JournalEntry],
        formatter: &mut JournalFormatter,
    ) -> Result<Reader, CliError> {
        if self.args.output.output == OutputFormat::Json {
            return Ok(write_result(&formatter.format(entries)?)?);
        }
        for entry in entries {
            // The summary of the run follows as the result.
            if !matches!(entry.line, JournalLine::RunEnded { .. }) {
                let text = formatter.format(std::slice::from_ref(entry))?;
                text.lines().for_each(|line| self.presenter.say(line));
            }
        }
        Ok(Reader::There)
    }
}
