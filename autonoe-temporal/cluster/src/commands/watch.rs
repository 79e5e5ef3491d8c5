//! Follows a remote run to its end.

use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use autonoe_app::AppError;
use autonoe_core::RunId;
use autonoe_core::engine::RunOutcome;
use tokio::time::{Instant, sleep};

use super::Cluster;
use super::fetch_error::{FetchError, Outage};
use super::remote_journal::{JournalUpdate, PAUSE, RemoteJournal};
use crate::output::ReaderState;

/// An engine that keeps a request open for this long is reachable, so the next error starts a new
/// outage.
const REACHABLE_AFTER: Duration = Duration::from_secs(60);

/// Receives the updates of a run, or the error that prevents them.
type OnUpdate<'a> =
    dyn FnMut(Result<JournalUpdate, FetchError>) -> Result<ReaderState, AppError> + 'a;

/// Waits for the end of a run, and passes its updates to `on_update` until then.
///
/// Returns `None` if the reader is gone, and the error of `on_update` if it returns one. The caller
/// reads the last lines of the journal.
pub(super) async fn watch(
    cluster: &dyn Cluster,
    run: &RunId,
    journal: &mut RemoteJournal<'_>,
    on_update: &mut OnUpdate<'_>,
) -> Result<Option<RunOutcome>, AppError> {
    let unreported = Cell::new(None);
    let mut ending = pin!(end(cluster, run, &unreported));
    loop {
        let journal_update = tokio::select! {
            biased;
            ended = &mut ending => return ended.map(Some),
            journal_update = journal.journal_update() => journal_update,
        };
        let is_error = !journal_update
            .as_ref()
            .is_ok_and(|journal_update| journal_update.entries.is_ok());
        if on_update(journal_update)? == ReaderState::Closed {
            return Ok(None);
        }
        // The error of an unreachable engine was reported already.
        if let Some(error) = unreported.take()
            && !is_error
        {
            on_update(Err(error))?;
        }
        if is_error {
            tokio::select! {
                biased;
                ended = &mut ending => return ended.map(Some),
                () = sleep(PAUSE) => {}
            }
        }
    }
}

/// Waits for the end of a run, and retries while the engine is unreachable. Puts the first error
/// into `unreported`.
async fn end(
    cluster: &dyn Cluster,
    run: &RunId,
    unreported: &Cell<Option<FetchError>>,
) -> Result<RunOutcome, AppError> {
    let mut outage = Outage::default();
    loop {
        let requested_at = Instant::now();
        let error = match cluster.wait(run).await {
            Ok(outcome) => return Ok(outcome),
            Err(error) => error,
        };
        if requested_at.elapsed() >= REACHABLE_AFTER {
            outage.end();
        }
        if let Some(error) = outage.record_error(error.into())? {
            unreported.set(Some(error));
        }
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::engine::ProjectName;

    use super::super::tests::unreachable_cluster::UnreachableCluster;
    use super::*;

    /// Watches a run, and returns how long that took and the number of reported errors.
    async fn watched(
        cluster: &UnreachableCluster,
        run: &str,
    ) -> (Result<Option<RunOutcome>, AppError>, Duration, u32) {
        let (shop, run) = (ProjectName::new("shop").expect("a name"), RunId::new(run));
        let mut journal = RemoteJournal::new(cluster, shop, run.clone());
        let mut errors = 0;
        let mut on_update = |journal_update: Result<JournalUpdate, FetchError>| {
            errors += u32::from(journal_update.is_err());
            Ok(ReaderState::Open)
        };
        let started = Instant::now();
        let ended = watch(cluster, &run, &mut journal, &mut on_update).await;
        (ended, started.elapsed(), errors)
    }

    #[tokio::test(start_paused = true)]
    async fn retries_while_the_server_is_unreachable() {
        let (ended, elapsed, errors) = watched(&UnreachableCluster::for_times(3), "shop-1").await;

        let ended = ended.expect("it has come back");
        assert_eq!(ended, Some(RunOutcome::cancelled("enough")));
        // The journal can be read after the third failure.
        assert_eq!((elapsed.as_secs(), errors), (3, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_after_ten_minutes() {
        let (ended, elapsed, _) = watched(&UnreachableCluster::for_ever(), "shop-1").await;

        let error = ended.expect_err("it does not come back");
        assert!(error.to_string().contains("the server is away"), "{error}");
        assert_eq!(elapsed.as_secs(), 600);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unknown_run_is_not_retried() {
        let (ended, elapsed, _) = watched(&UnreachableCluster::for_ever(), "nobody").await;

        assert!(ended.is_err());
        assert_eq!(elapsed, Duration::ZERO);
    }
}
