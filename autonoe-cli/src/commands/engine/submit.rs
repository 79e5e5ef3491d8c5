//! `autonoe submit`.

use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::sync::Arc;

use autonoe_core::{
    Engine, IdSource, RandomIds, RunEnding, RunId, RunObserver, RunOutcome, RunSpec,
};
use serde::Serialize;

use super::again::again;
use super::happened::Happened;
use super::place;
use super::remote::{News, Remote};
use super::retelling::Retelling;
use super::status::{ended, report};
use super::trouble::Trouble;
use super::watching::watch;
use crate::args::{OutputFormat, SubmitArgs};
use crate::commands::run::{hint, shown};
use crate::commands::signals;
use crate::commands::stage::Stage;
use crate::error::CliError;
use crate::exit_code;
use crate::present::{Presenter, harmless_line};
use crate::results::Reader;
use crate::surroundings::Surroundings;

/// What `autonoe submit --output json` prints.
#[derive(Serialize)]
struct Submitted<'a> {
    run: &'a RunId,
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
        observers: stage.observers(),
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
    let told = stage.tell(&shown(&report), surroundings);
    told.map_err(|error| error.with_hint(kept))?;
    if let Some(hint) = hint(&report.exit) {
        surroundings.note(&format!("  hint: {}", harmless_line(&hint)));
    }
    Ok(exit_code::of(&report.exit).into())
}

/// Waits for a run and tells what happens meanwhile.
struct Watching<'a> {
    args: &'a SubmitArgs,
    run: RunId,
    observers: Vec<Arc<dyn RunObserver>>,
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
        let mode = args.mode.into();
        let mut retelling = Retelling::to(self.observers.clone(), run.clone(), mode)?;
        let mut remote = Remote::<Happened>::of(engine, args.project().clone(), run.clone())?;
        let mut is_in_trouble = false;
        let mut hear = |news: Result<News<_>, Trouble>| {
            let heard = news.and_then(|News { view, items }| {
                let told = items.map(|items| items.iter().for_each(|it| retelling.tell(it)));
                retelling.stands(&view);
                told
            });
            match heard {
                Ok(()) => is_in_trouble = false,
                // The run itself is not touched by that. Said once, until it is over.
                Err(trouble) if !is_in_trouble => {
                    is_in_trouble = true;
                    let words = format!("what happens cannot be told for now: {trouble}");
                    self.presenter.warn(&words);
                }
                Err(_) => {}
            }
            Ok(Reader::There)
        };
        let watched = tokio::select! {
            biased;
            () = interrupted => None,
            watched = async {
                let ended = watch(engine, run, &mut remote, &mut hear).await?;
                hear(remote.last().await)?;
                Ok::<_, CliError>(ended)
            } => Some(watched),
        };
        remote.let_go().await;
        remote.left().iter().for_each(|it| retelling.tell(it));
        let outcome = match watched {
            None | Some(Ok(None)) => return Ok(Waited::Left),
            Some(Ok(Some(outcome))) => outcome,
            Some(Err(error)) => {
                let hint = format!("the run {run} may go on; {}", ways(args, run));
                return Err(error.with_hint(hint));
            }
        };
        if let Some(report) = report(&outcome) {
            retelling.end(&report);
        }
        Ok(Waited::Ended(Box::new(outcome)))
    }
}
