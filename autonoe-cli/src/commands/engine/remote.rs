//! The journal of a run on another host.

use std::time::Duration;

use autonoe_core::{
    Engine, IdSource, JournalAsk, JournalEntry, JournalPage, Placement, ProjectName, RandomIds,
    Retry, RunEnding, RunId, RunOutcome, RunView,
};
use serde_json::Value;

use super::journal_cursor::JournalCursor;
use super::trouble::Trouble;
use crate::error::CliError;

/// Time limit for the answer of a host, in addition to the wait that the request asks for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pause before the next request when there was nothing new.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// Attempts to read the last lines of a journal.
const TRIES: u32 = 3;

/// How long a host waits for a new line.
const WAIT: Duration = Duration::from_secs(10);

/// The journal of a run, read on the host that the run is on.
///
/// Each page is a job for that host. A job whose result is not needed any more is cancelled.
pub(super) struct RemoteJournal<'e> {
    engine: &'e dyn Engine,
    ids: Box<dyn IdSource>,
    project: ProjectName,
    run: RunId,
    cursor: JournalCursor,
    /// Lines that were read and not returned yet.
    fresh: Vec<JournalEntry>,
    /// The unfinished job that reads a page.
    open: Option<RunId>,
    /// Whether the last page was the end of the journal.
    is_at_end: bool,
}

/// The state of a run, and the new lines of its journal or why they cannot be read.
pub(super) struct News {
    pub(super) view: RunView,
    pub(super) entries: Result<Vec<JournalEntry>, Trouble>,
}

impl<'e> RemoteJournal<'e> {
    pub(super) fn new(
        engine: &'e dyn Engine,
        project: ProjectName,
        run: RunId,
    ) -> Result<Self, CliError> {
        let ids = RandomIds::new().map_err(|error| CliError::failure(error.to_string()))?;
        Ok(Self {
            engine,
            ids: Box::new(ids),
            project,
            run,
            cursor: JournalCursor::default(),
            fresh: Vec::new(),
            open: None,
            is_at_end: false,
        })
    }

    /// Waits a while for news. Dropping the future loses nothing.
    pub(super) async fn news(&mut self) -> Result<News, Trouble> {
        if self.is_at_end {
            // Each page costs the engine something, and an agent at work always has something to say.
            tokio::time::sleep(PAUSE).await;
        }
        let view = self.engine.status(&self.run).await?;
        let read = match &view.host {
            Some(host) => self.next(host).await,
            None => {
                self.is_at_end = true;
                Ok(())
            }
        };
        Ok(self.news_of(view, read))
    }

    /// Returns all new lines. Lines that were read before an error are kept for the next call.
    pub(super) async fn rest(&mut self) -> Result<News, Trouble> {
        let view = self.engine.status(&self.run).await?;
        let read = match &view.host {
            Some(host) => self.all(host).await,
            None => Ok(()),
        };
        Ok(self.news_of(view, read))
    }

    /// Returns all new lines of a run that has ended, with a few retries: there is no later call.
    pub(super) async fn last(&mut self) -> Result<News, Trouble> {
        let mut tries = 1;
        loop {
            let rest = self.rest().await;
            let is_told = rest.as_ref().is_ok_and(|news| news.entries.is_ok());
            if is_told || tries == TRIES {
                return rest;
            }
            tries += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn news_of(&mut self, view: RunView, read: Result<(), Trouble>) -> News {
        let entries = read.map(|()| std::mem::take(&mut self.fresh));
        News { view, entries }
    }

    /// Cancels the unfinished job. A failure to do so is ignored: the job ends by itself on its host.
    pub(super) async fn let_go(&mut self) {
        if let Some(open) = self.open.take() {
            let cancelling = self.engine.cancel(&open, "nobody waits for it any more");
            let _ = tokio::time::timeout(PATIENCE, cancelling).await;
        }
    }

    /// Returns the lines that were read before an error and not returned yet.
    pub(super) fn left(&mut self) -> Vec<JournalEntry> {
        std::mem::take(&mut self.fresh)
    }

    /// Reads pages until there is a new line, or the end of the journal.
    async fn next(&mut self, host: &str) -> Result<(), Trouble> {
        loop {
            self.is_at_end = self.page(host, WAIT).await?;
            if self.is_at_end || !self.fresh.is_empty() {
                return Ok(());
            }
        }
    }

    /// Reads all pages that there are now.
    async fn all(&mut self, host: &str) -> Result<(), Trouble> {
        while !self.page(host, Duration::ZERO).await? {}
        Ok(())
    }

    /// Reads the new lines of a page, and returns whether it is the last one.
    async fn page(&mut self, host: &str, wait: Duration) -> Result<bool, Trouble> {
        self.let_go().await;
        let known = self.cursor.position(host);
        let id = RunId::new(format!("page-{}", self.ids.run_id()));
        let ask = JournalAsk::new(self.project.clone(), self.run.clone());
        let job = ask.after(known).waiting(wait).named(id.clone());
        let job = job.map_err(|error| Trouble::Lasting(CliError::failure(error.to_string())))?;
        self.open = Some(id.clone());
        self.engine.submit(job, Placement::on(host)).await?;
        let waiting = tokio::time::timeout(wait + PATIENCE, self.engine.wait(&id));
        let Ok(outcome) = waiting.await else {
            self.let_go().await;
            return Err(no_answer(host));
        };
        let outcome = outcome?;
        self.open = None;
        let page = serde_json::from_value(page_of(outcome, host)?);
        let page: JournalPage = page.map_err(|error| misunderstood(host, &error))?;
        let is_last = page.is_last && page.next >= known;
        self.fresh.extend(self.cursor.advance(page));
        Ok(is_last)
    }
}

fn no_answer(host: &str) -> Trouble {
    let words = format!("the host {host} does not answer: its journal cannot be read");
    let hint = "look there whether its autonoe-worker is at work; the journal is kept there";
    Trouble::Passing(CliError::failure(words).with_hint(hint))
}

fn misunderstood(host: &str, error: &serde_json::Error) -> Trouble {
    let words = format!("what the host {host} tells of the journal cannot be understood: {error}");
    let hint = "use the same version of Autonoe as its worker";
    Trouble::Lasting(CliError::failure(words).with_hint(hint))
}

fn page_of(outcome: RunOutcome, host: &str) -> Result<Value, Trouble> {
    match outcome.ending {
        RunEnding::Succeeded => Ok(outcome.output),
        RunEnding::Failed { failure } => {
            let words = format!("the host {host} cannot tell the journal: {failure}");
            Err(match failure.retry {
                Retry::MayHelp => Trouble::Passing(CliError::failure(words)),
                Retry::Useless => Trouble::Lasting(CliError::failure(words)),
            })
        }
        RunEnding::Cancelled { reason } => Err(Trouble::Passing(CliError::failure(format!(
            "reading the journal on the host {host} was cancelled: {reason}"
        )))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use autonoe_core::{
        EngineError, Failure, JobRunner, LocalEngine, RunDesk, RunInstruction, RunPhase, RunSpec,
    };
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;

    /// Never answers, and notes that it was cancelled.
    #[derive(Default)]
    struct Deaf(Mutex<u32>);

    #[async_trait]
    impl JobRunner for Deaf {
        async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
            desk.control().cancelled().await;
            *self.0.lock().expect("not poisoned") += 1;
            RunOutcome::cancelled("")
        }
    }

    /// Jobs of a host, and a run that is there.
    struct OnHost(LocalEngine);

    #[async_trait]
    impl Engine for OnHost {
        async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
            self.0.submit(run, place).await
        }

        async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
            self.0.cancel(run, reason).await
        }

        async fn instruct(&self, run: &RunId, told: RunInstruction) -> Result<(), EngineError> {
            self.0.instruct(run, told).await
        }

        async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
            let mut view = RunView::new(run.clone());
            view.phase = RunPhase::Running;
            view.host = Some("build-1".to_owned());
            Ok(view)
        }

        async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
            self.0.wait(run).await
        }
    }

    impl OnHost {
        fn with(runner: Arc<dyn JobRunner>) -> Self {
            Self(LocalEngine::new(runner).on_host("build-1"))
        }

        /// Reads there what a run has written down.
        fn read(&self) -> RemoteJournal<'_> {
            let shop = ProjectName::new("shop").expect("a name");
            RemoteJournal::new(self, shop, RunId::new("shop-1")).expect("random numbers")
        }
    }

    /// Gives these pages, one after the other; a page that is `None` fails.
    struct Gives(Mutex<VecDeque<Option<Value>>>);

    impl Gives {
        fn pages(pages: impl IntoIterator<Item = Option<Value>>) -> OnHost {
            OnHost::with(Arc::new(Self(Mutex::new(pages.into_iter().collect()))))
        }
    }

    #[async_trait]
    impl JobRunner for Gives {
        async fn run(&self, _: &RunSpec, _: &RunDesk) -> RunOutcome {
            let page = self.0.lock().expect("not poisoned").pop_front();
            match page.expect("nobody asks so often") {
                Some(page) => RunOutcome::succeeded(page),
                None => RunOutcome::failed(Failure::retryable("busy", "later")),
            }
        }
    }

    /// A page with `count` lines, the last of which is number `next`.
    fn page(count: u64, next: u64, is_last: bool) -> Option<Value> {
        let entry = |epoch: u64| {
            json!({"v": 1, "run": "shop-1", "at": "2026-01-01T00:00:00Z", "line": "flow_resumed",
                "epoch": epoch})
        };
        let entries: Vec<_> = (next - count..next).map(entry).collect();
        Some(json!({"entries": entries, "next": next, "isLast": is_last}))
    }

    fn count(news: Result<News, Trouble>) -> usize {
        let news = news.expect("the engine answers");
        news.entries.expect("the host answers").len()
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_read_all_rests_before_it_asks_again() {
        let engine = Gives::pages([page(1, 1, false), page(1, 2, true), page(1, 3, true)]);
        let mut remote = engine.read();
        let began = Instant::now();
        let mut times = Vec::new();

        for _ in 0..3 {
            assert_eq!(count(remote.news().await), 1);
            times.push(began.elapsed().as_secs());
        }

        assert_eq!(times, [0, 0, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_is_asked_for_again_when_there_is_trouble() {
        let engine = Gives::pages([page(1, 1, false), None, None, page(2, 3, true)]);

        let lines = count(engine.read().last().await);

        assert_eq!(lines, 3);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_read_before_trouble_is_left_to_be_told() {
        let engine = Gives::pages([page(1, 1, false), None, None, None]);
        let mut remote = engine.read();

        let last = remote.last().await.expect("the engine answers");

        assert!(last.entries.is_err());
        assert_eq!(remote.left().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_does_not_answer_is_named_and_its_job_cancelled() {
        let deaf = Arc::new(Deaf::default());
        let engine = OnHost::with(deaf.clone());

        let news = engine.read().rest().await;
        let items = news.expect("the engine answers").entries;
        let error: CliError = items.map(drop).expect_err("nobody answers").into();
        tokio::task::yield_now().await;

        assert!(error.to_string().contains("build-1"), "{error}");
        assert!(error.hint().is_some());
        assert_eq!(*deaf.0.lock().expect("not poisoned"), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_was_dropped_is_called_back() {
        let deaf = Arc::new(Deaf::default());
        let engine = OnHost::with(deaf.clone());
        let mut journal = engine.read();
        let dropped = tokio::time::timeout(Duration::from_secs(1), journal.news()).await;
        assert!(dropped.is_err());

        journal.let_go().await;
        tokio::task::yield_now().await;

        assert_eq!(*deaf.0.lock().expect("not poisoned"), 1);
    }
}
