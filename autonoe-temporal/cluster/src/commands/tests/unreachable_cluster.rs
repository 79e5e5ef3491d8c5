//! A cluster whose server or hosts fail for a while.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::engine::{
    Engine, EngineError, Placement, RunInstruction, RunOutcome, RunPhase, RunSpec, RunView,
};
use autonoe_core::event::Failure;
use autonoe_core::project::{JournalPage, JournalPageRequest};
use autonoe_temporal::{Cluster, JournalError, RunSummary};
use serde_json::json;

/// The answer of a host to a request for a page.
pub(in crate::commands) enum Page {
    Lines(JournalPage),
    Busy,
    Corrupt,
    NoAnswer,
}

/// A page with `count` lines, the last of which is number `next`.
pub(in crate::commands) fn page(count: u64, next: u64, is_last: bool) -> Page {
    let entry = |epoch: u64| {
        json!({"v": 1, "run": "shop-1", "at": "2026-01-01T00:00:00Z", "line": "flow_resumed",
            "epoch": epoch})
    };
    let entries: Vec<_> = (next - count..next).map(entry).collect();
    let page = json!({"entries": entries, "next": next, "isLast": is_last});
    Page::Lines(serde_json::from_value(page).expect("a page"))
}

/// A cluster that fails until `wait` was called `times` times. Its run has ended.
pub(in crate::commands) struct UnreachableCluster {
    times: Mutex<u32>,
    has_ended: bool,
    pages: Mutex<VecDeque<Page>>,
}

impl UnreachableCluster {
    pub(in crate::commands) fn for_times(times: u32) -> Self {
        Self {
            times: Mutex::new(times),
            has_ended: true,
            pages: Mutex::new(VecDeque::from([page(0, 0, true)])),
        }
    }

    pub(in crate::commands) fn for_ever() -> Self {
        Self::for_times(u32::MAX)
    }

    /// A reachable cluster with a run in progress on the host `build-1`, which has these pages.
    pub(in crate::commands) fn with_pages(pages: impl IntoIterator<Item = Page>) -> Self {
        Self {
            times: Mutex::new(0),
            has_ended: false,
            pages: Mutex::new(pages.into_iter().collect()),
        }
    }

    /// Ends the run.
    pub(in crate::commands) fn ended(self) -> Self {
        Self {
            has_ended: true,
            ..self
        }
    }

    fn check_reachable(&self) -> Result<(), EngineError> {
        match *self.times.lock().expect("not poisoned") {
            0 => Ok(()),
            _ => Err(EngineError::Failed {
                reason: "the server is away".to_owned(),
                source: None,
            }),
        }
    }
}

#[async_trait]
impl Engine for UnreachableCluster {
    async fn submit(&self, run: RunSpec, _: Placement) -> Result<RunId, EngineError> {
        self.check_reachable().map(|()| run.id)
    }

    async fn cancel(&self, _: &RunId, _: &str) -> Result<(), EngineError> {
        self.check_reachable()
    }

    async fn instruct(&self, _: &RunId, _: RunInstruction) -> Result<(), EngineError> {
        self.check_reachable()
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        if run.as_str() == "nobody" {
            return Err(EngineError::Unknown(run.clone()));
        }
        self.check_reachable()?;
        let mut view = RunView::new(run.clone());
        view.phase = RunPhase::Running;
        view.host = Some("build-1".to_owned());
        if self.has_ended {
            view.phase = RunPhase::Ended;
            view.outcome = Some(RunOutcome::cancelled("enough"));
        }
        Ok(view)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        if run.as_str() == "nobody" {
            return Err(EngineError::Unknown(run.clone()));
        }
        self.check_reachable()
            .inspect_err(|_| *self.times.lock().expect("not poisoned") -= 1)?;
        if !self.has_ended {
            std::future::pending::<()>().await;
        }
        Ok(RunOutcome::cancelled("enough"))
    }
}

#[async_trait]
impl Cluster for UnreachableCluster {
    async fn journal(
        &self,
        host: &str,
        _: JournalPageRequest,
    ) -> Result<JournalPage, JournalError> {
        let page = self.pages.lock().expect("not poisoned").pop_front();
        let host = host.to_owned();
        match page.expect("no further request") {
            Page::Lines(page) => Ok(page),
            Page::Busy => Err(EngineError::Failed {
                reason: "later".to_owned(),
                source: None,
            }
            .into()),
            Page::Corrupt => {
                let failure = Failure::permanent("journal", "rubbish");
                Err(JournalError::Failed { host, failure })
            }
            Page::NoAnswer => Err(JournalError::NoAnswer { host }),
        }
    }

    async fn list(&self, _: usize) -> Result<Vec<RunSummary>, EngineError> {
        self.check_reachable().map(|()| Vec::new())
    }
}
