//! Following a run to its end.

use std::pin::pin;

use autonoe_core::{Engine, RunId, RunOutcome};

use super::journal::{News, PAUSE, RemoteJournal};
use crate::error::CliError;
use crate::results::Reader;

/// Waits for the end of a run, and has `hear` told what happens until then.
///
/// What cannot be told is told as an error: if `hear` returns it, that is the end. `None` if nobody
/// listens any more.
pub(super) async fn watch(
    engine: &dyn Engine,
    run: &RunId,
    journal: &mut RemoteJournal<'_>,
    hear: &mut dyn FnMut(Result<News, CliError>) -> Result<Reader, CliError>,
) -> Result<Option<RunOutcome>, CliError> {
    let mut ending = pin!(engine.wait(run));
    let outcome = loop {
        let news = tokio::select! {
            biased;
            ended = &mut ending => break ended?,
            news = journal.news() => news,
        };
        let is_trouble = news.is_err();
        if hear(news)? == Reader::Gone {
            return Ok(None);
        }
        if is_trouble {
            tokio::select! {
                biased;
                ended = &mut ending => break ended?,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    };
    match hear(journal.rest().await)? {
        Reader::There => Ok(Some(outcome)),
        Reader::Gone => Ok(None),
    }
}
