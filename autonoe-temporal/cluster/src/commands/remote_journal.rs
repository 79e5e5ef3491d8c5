//! [`RemoteJournal`]: reads the journal of a run on another host.

use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{ProjectName, RunView};
use autonoe_core::project::{JournalEntry, JournalPageRequest};
use autonoe_temporal::Cluster;

use super::fetch_error::FetchError;
use super::journal_cursor::JournalCursor;

/// Pause before the next request when there was nothing new.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// The journal of a run, read page by page on the host that the run is on.
pub(super) struct RemoteJournal<'c> {
    cluster: &'c dyn Cluster,
    /// `None` if the run has no journal.
    project: Option<ProjectName>,
    pub(super) run: RunId,
    cursor: JournalCursor,
    /// Lines that were read and not returned yet.
    fresh: Vec<JournalEntry>,
    /// Whether the last page was the end of the journal.
    is_at_end: bool,
}

/// The state of a run and the new lines of its journal.
pub(super) struct JournalUpdate {
    pub(super) view: RunView,
    pub(super) entries: Vec<JournalEntry>,
    /// The reason why the lines after `entries` cannot be read.
    pub(super) error: Option<FetchError>,
}

impl<'c> RemoteJournal<'c> {
    pub(super) fn new(cluster: &'c dyn Cluster, project: Option<ProjectName>, run: RunId) -> Self {
        Self {
            cluster,
            project,
            run,
            cursor: JournalCursor::default(),
            fresh: Vec::new(),
            is_at_end: false,
        }
    }

    /// Waits for new lines, at most for `wait` on the host. Returns all new lines if `wait` is zero
    /// or the run has ended. Dropping the future loses nothing.
    pub(super) async fn update(&mut self, wait: Duration) -> Result<JournalUpdate, FetchError> {
        if self.is_at_end && !wait.is_zero() {
            // Each page is a request to the server, and a running agent always produces new lines.
            tokio::time::sleep(PAUSE).await;
        }
        let view = self.cluster.status(&self.run).await?;
        let wait = match &view.outcome {
            Some(_) => Duration::ZERO,
            None => wait,
        };
        let read = self.read(view.host.as_deref(), wait).await;
        Ok(JournalUpdate {
            view,
            entries: std::mem::take(&mut self.fresh),
            error: read.err(),
        })
    }

    /// Reads pages until the end of the journal, or until there is a line to wait for.
    async fn read(&mut self, host: Option<&str>, wait: Duration) -> Result<(), FetchError> {
        self.is_at_end = true;
        let (Some(host), Some(project)) = (host, self.project.clone()) else {
            return Ok(());
        };
        loop {
            let known = self.cursor.position(host);
            let ask = JournalPageRequest::new(project.clone(), self.run.clone());
            let page = self.cluster.journal(host, ask.after(known).wait(wait));
            let page = page.await?;
            self.is_at_end = page.is_last && page.next >= known;
            self.fresh.extend(self.cursor.advance(page));
            if self.is_at_end || (!wait.is_zero() && !self.fresh.is_empty()) {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::super::tests::unreachable_cluster::{Page, UnreachableCluster, page};
    use super::*;

    fn read(cluster: &UnreachableCluster) -> RemoteJournal<'_> {
        let shop = ProjectName::new("shop").expect("a name");
        RemoteJournal::new(cluster, Some(shop), RunId::new("shop-1"))
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_at_the_end_before_the_next_request() {
        let pages = [page(1, 1, false), page(1, 2, true), page(1, 3, true)];
        let cluster = UnreachableCluster::with_pages(pages);
        let mut remote = read(&cluster);
        let started = Instant::now();
        let mut times = Vec::new();

        for _ in 0..3 {
            let update = remote.update(Duration::from_secs(10)).await;
            let update = update.expect("the server answers");
            assert!(update.error.is_none());
            assert_eq!(update.entries.len(), 1);
            times.push(started.elapsed().as_secs());
        }

        assert_eq!(times, [0, 0, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_does_not_answer_is_named() {
        let cluster = UnreachableCluster::with_pages([Page::NoAnswer]);

        let update = read(&cluster).update(Duration::ZERO).await;
        let error = update.expect("the server answers").error;
        let error: autonoe_app::AppError = error.expect("no answer").into();

        assert!(error.to_string().contains("build-1"), "{error}");
        assert!(error.hint().is_some());
    }
}
