//! [`RemoteJournal`]: reads the journal of a run on another host.

use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{ProjectName, RunView};
use autonoe_core::project::{JournalEntry, JournalPageRequest};

use super::Cluster;
use super::fetch_error::FetchError;
use super::journal_cursor::JournalCursor;

/// Pause before the next request when there was nothing new.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// Attempts to read the last lines of a journal.
const TRIES: u32 = 3;

/// Time that a host waits for a new line.
const WAIT: Duration = Duration::from_secs(10);

/// The journal of a run, read page by page on the host that the run is on.
pub(super) struct RemoteJournal<'c> {
    cluster: &'c dyn Cluster,
    /// `None` if the run has no journal.
    project: Option<ProjectName>,
    run: RunId,
    cursor: JournalCursor,
    /// Lines that were read and not returned yet.
    fresh: Vec<JournalEntry>,
    /// Whether the last page was the end of the journal.
    is_at_end: bool,
}

/// The state of a run, and the new lines of its journal or why they cannot be read.
pub(super) struct JournalUpdate {
    pub(super) view: RunView,
    pub(super) entries: Result<Vec<JournalEntry>, FetchError>,
}

impl<'c> RemoteJournal<'c> {
    pub(super) fn new(
        cluster: &'c dyn Cluster,
        project: impl Into<Option<ProjectName>>,
        run: RunId,
    ) -> Self {
        Self {
            cluster,
            project: project.into(),
            run,
            cursor: JournalCursor::default(),
            fresh: Vec::new(),
            is_at_end: false,
        }
    }

    /// Waits a while for updates. Dropping the future loses nothing.
    pub(super) async fn journal_update(&mut self) -> Result<JournalUpdate, FetchError> {
        if self.is_at_end {
            // Each page is a request to the server, and a running agent always produces new lines.
            tokio::time::sleep(PAUSE).await;
        }
        let view = self.cluster.status(&self.run).await?;
        let read = match &view.host {
            Some(host) => self.next(host).await,
            None => {
                self.is_at_end = true;
                Ok(())
            }
        };
        Ok(self.take_update(view, read))
    }

    /// Returns all new lines. Lines that were read before an error are kept for the next call.
    pub(super) async fn rest(&mut self) -> Result<JournalUpdate, FetchError> {
        let view = self.cluster.status(&self.run).await?;
        let read = match &view.host {
            Some(host) => self.all(host).await,
            None => Ok(()),
        };
        Ok(self.take_update(view, read))
    }

    /// Returns all new lines of a run that has ended, with a few retries: there is no later call.
    pub(super) async fn last(&mut self) -> Result<JournalUpdate, FetchError> {
        let mut tries = 1;
        loop {
            let rest = self.rest().await;
            let is_read = rest
                .as_ref()
                .is_ok_and(|journal_update| journal_update.entries.is_ok());
            if is_read || tries == TRIES {
                return rest;
            }
            tries += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn take_update(&mut self, view: RunView, read: Result<(), FetchError>) -> JournalUpdate {
        let entries = read.map(|()| std::mem::take(&mut self.fresh));
        JournalUpdate { view, entries }
    }

    /// Returns the lines that were read before an error and not returned yet.
    pub(super) fn left(&mut self) -> Vec<JournalEntry> {
        std::mem::take(&mut self.fresh)
    }

    /// Reads pages until there is a new line, or the end of the journal.
    async fn next(&mut self, host: &str) -> Result<(), FetchError> {
        loop {
            self.is_at_end = self.page(host, WAIT).await?;
            if self.is_at_end || !self.fresh.is_empty() {
                return Ok(());
            }
        }
    }

    /// Reads all pages that there are now.
    async fn all(&mut self, host: &str) -> Result<(), FetchError> {
        while !self.page(host, Duration::ZERO).await? {}
        Ok(())
    }

    /// Reads the new lines of a page, and returns whether it is the last one.
    async fn page(&mut self, host: &str, wait: Duration) -> Result<bool, FetchError> {
        let known = self.cursor.position(host);
        let Some(project) = self.project.clone() else {
            return Ok(true);
        };
        let ask = JournalPageRequest::new(project, self.run.clone());
        let page = self
            .cluster
            .journal(host, ask.after(known).wait(wait))
            .await?;
        let is_last = page.is_last && page.next >= known;
        self.fresh.extend(self.cursor.advance(page));
        Ok(is_last)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use autonoe_core::project::JournalPage;
    use serde_json::json;
    use tokio::time::Instant;

    use super::super::tests::unreachable_cluster::{Page, UnreachableCluster};
    use super::*;

    fn read(cluster: &UnreachableCluster) -> RemoteJournal<'_> {
        let shop = ProjectName::new("shop").expect("a name");
        RemoteJournal::new(cluster, shop, RunId::new("shop-1"))
    }

    fn pages(pages: impl IntoIterator<Item = Page>) -> UnreachableCluster {
        UnreachableCluster::with_pages(VecDeque::from_iter(pages))
    }

    /// A page with `count` lines, the last of which is number `next`.
    fn page(count: u64, next: u64, is_last: bool) -> Page {
        let entry = |epoch: u64| {
            json!({"v": 1, "run": "shop-1", "at": "2026-01-01T00:00:00Z", "line": "flow_resumed",
                "epoch": epoch})
        };
        let entries: Vec<_> = (next - count..next).map(entry).collect();
        let page = json!({"entries": entries, "next": next, "isLast": is_last});
        Page::Lines(serde_json::from_value::<JournalPage>(page).expect("a page"))
    }

    fn count(journal_update: Result<JournalUpdate, FetchError>) -> usize {
        let journal_update = journal_update.expect("the server answers");
        journal_update.entries.expect("the host answers").len()
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_at_the_end_before_the_next_request() {
        let cluster = pages([page(1, 1, false), page(1, 2, true), page(1, 3, true)]);
        let mut remote = read(&cluster);
        let started = Instant::now();
        let mut times = Vec::new();

        for _ in 0..3 {
            assert_eq!(count(remote.journal_update().await), 1);
            times.push(started.elapsed().as_secs());
        }

        assert_eq!(times, [0, 0, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_the_last_lines() {
        let cluster = pages([page(1, 1, false), Page::Busy, Page::Busy, page(2, 3, true)]);

        let lines = count(read(&cluster).last().await);

        assert_eq!(lines, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_lines_that_were_read_before_an_error() {
        let cluster = pages([page(1, 1, false), Page::Busy, Page::Busy, Page::Busy]);
        let mut remote = read(&cluster);

        let last = remote.last().await.expect("the server answers");

        assert!(last.entries.is_err());
        assert_eq!(remote.left().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_does_not_answer_is_named() {
        let cluster = pages([Page::NoAnswer]);

        let journal_update = read(&cluster).rest().await;
        let entries = journal_update.expect("the server answers").entries;
        let error: autonoe_app::AppError = entries.map(drop).expect_err("no answer").into();

        assert!(error.to_string().contains("build-1"), "{error}");
        assert!(error.hint().is_some());
    }
}
