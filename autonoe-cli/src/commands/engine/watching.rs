//! Follows a remote run to its end.

use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use autonoe_core::{Engine, RunId, RunOutcome};
use tokio::time::{Instant, sleep};

use super::remote::{News, PAUSE, RemoteJournal};
use super::trouble::{Row, Trouble};
use crate::error::CliError;
use crate::results::Reader;

/// An engine that keeps a request open for this long is reachable, so the next error starts a new
/// outage.
const REACHABLE_AFTER: Duration = Duration::from_secs(60);

/// Receives the news of a run, or the error that prevents them.
type OnNews<'a> = dyn FnMut(Result<News, Trouble>) -> Result<Reader, CliError> + 'a;

/// Waits for the end of a run, and passes its news to `on_news` until then.
///
/// Returns `None` if the reader is gone, and the error of `on_news` if it returns one. The caller
/// reads the last lines of the journal.
pub(super) async fn watch(
    engine: &dyn Engine,
    run: &RunId,
    journal: &mut RemoteJournal<'_>,
    on_news: &mut OnNews<'_>,
) -> Result<Option<RunOutcome>, CliError> {
    let unreported = Cell::new(None);
    let mut ending = pin!(end(engine, run, &unreported));
    loop {
        let news = tokio::select! {
            biased;
            ended = &mut ending => return ended.map(Some),
            news = journal.news() => news,
        };
        let is_trouble = !news.as_ref().is_ok_and(|news| news.entries.is_ok());
        if on_news(news)? == Reader::Gone {
            return Ok(None);
        }
        // The error of an unreachable engine was reported already.
        if let Some(trouble) = unreported.take()
            && !is_trouble
        {
            on_news(Err(trouble))?;
        }
        if is_trouble {
            tokio::select! {
                biased;
                ended = &mut ending => return ended.map(Some),
                () = sleep(PAUSE) => {}
            }
        }
    }
}

/// Waits for the end of a run, and retries while the engine is unreachable. Puts the first error into
/// `unreported`.
async fn end(
    engine: &dyn Engine,
    run: &RunId,
    unreported: &Cell<Option<Trouble>>,
) -> Result<RunOutcome, CliError> {
    let mut row = Row::default();
    loop {
        let asked = Instant::now();
        let error = match engine.wait(run).await {
            Ok(outcome) => return Ok(outcome),
            Err(error) => error,
        };
        if asked.elapsed() >= REACHABLE_AFTER {
            row.is_over();
        }
        if let Some(trouble) = row.bear(error.into())? {
            unreported.set(Some(trouble));
        }
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::ProjectName;

    use super::super::away::Away;
    use super::*;

    /// Watches a run, and returns how long that took and how often there was trouble.
    async fn watched(
        engine: &Away,
        run: &str,
    ) -> (Result<Option<RunOutcome>, CliError>, Duration, u32) {
        let (shop, run) = (ProjectName::new("shop").expect("a name"), RunId::new(run));
        let journal = RemoteJournal::new(engine, shop, run.clone());
        let mut journal = journal.expect("random numbers");
        let mut troubles = 0;
        let mut hear = |news: Result<News, Trouble>| {
            troubles += u32::from(news.is_err());
            Ok(Reader::There)
        };
        let begun = Instant::now();
        let ended = watch(engine, &run, &mut journal, &mut hear).await;
        (ended, begun.elapsed(), troubles)
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_is_away_for_a_while_is_asked_again() {
        let (ended, took, troubles) = watched(&Away::for_times(3), "shop-1").await;

        let ended = ended.expect("it has come back");
        assert_eq!(ended, Some(RunOutcome::cancelled("enough")));
        // After the third time it is there for who asks for the journal.
        assert_eq!((took.as_secs(), troubles), (3, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_is_away_for_too_long_is_given_up() {
        let (ended, took, _) = watched(&Away::for_ever(), "shop-1").await;

        let error = ended.expect_err("it does not come back");
        assert!(error.to_string().contains("the server is away"), "{error}");
        assert_eq!(took.as_secs(), 600);
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_is_gone_for_good_is_given_up_at_once() {
        let (ended, took, troubles) = watched(&Away::for_good(), "shop-1").await;

        let error = ended.expect_err("it does not come back");
        let words = error.to_string();
        assert!(words.contains("the program has died"), "{words}");
        assert_eq!((took, troubles), (Duration::ZERO, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_answers_that_there_is_no_such_run_is_not_asked_again() {
        let (ended, took, _) = watched(&Away::for_ever(), "nobody").await;

        assert!(ended.is_err());
        assert_eq!(took, Duration::ZERO);
    }
}
