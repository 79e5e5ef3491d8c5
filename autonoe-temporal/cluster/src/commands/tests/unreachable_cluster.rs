//! A cluster whose server or hosts fail for a while.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::engine::{
    Engine, EngineError, Placement, RunInstruction, RunOutcome, RunPhase, RunSpec, RunView,
};
use autonoe_core::project::{JournalPage, JournalPageRequest};
use autonoe_temporal::{JournalError, RunSummary};

use crate::commands::Cluster;

/// The answer of a host to a request for a page.
pub(in crate::commands) enum Page {
    Lines(JournalPage),
    Busy,
    NoAnswer,
}

/// A cluster that fails until `wait` was called `times` times. After that its run has ended.
pub(in crate::commands) struct UnreachableCluster {
    times: Mutex<u32>,
    has_status: bool,
    pages: Option<Mutex<VecDeque<Page>>>,
}

impl UnreachableCluster {
    pub(in crate::commands) fn for_times(times: u32) -> Self {
        Self {
            times: Mutex::new(times),
            has_status: false,
            pages: None,
        }
    }

    pub(in crate::commands) fn for_ever() -> Self {
        Self::for_times(u32::MAX)
    }

    /// Always returns the status of the run.
    pub(in crate::commands) fn reporting_status(self) -> Self {
        Self {
            has_status: true,
            ..self
        }
    }

    /// A reachable cluster with a run on the host `build-1` that has these pages.
    pub(in crate::commands) fn with_pages(pages: VecDeque<Page>) -> Self {
        Self {
            pages: Some(Mutex::new(pages)),
            ..Self::for_times(0)
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
        if !self.has_status {
            self.check_reachable()?;
        }
        let mut view = RunView::new(run.clone());
        match self.pages {
            Some(_) => {
                view.phase = RunPhase::Running;
                view.host = Some("build-1".to_owned());
            }
            None => {
                view.phase = RunPhase::Ended;
                view.outcome = Some(RunOutcome::cancelled("enough"));
            }
        }
        Ok(view)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        if run.as_str() == "nobody" {
            return Err(EngineError::Unknown(run.clone()));
        }
        self.check_reachable()
            .inspect_err(|_| *self.times.lock().expect("not poisoned") -= 1)?;
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
        let pages = self.pages.as_ref().expect("the run is on a host");
        let page = pages.lock().expect("not poisoned").pop_front();
        let host = host.to_owned();
        match page.expect("no further request") {
            Page::Lines(page) => Ok(page),
            Page::Busy => Err(EngineError::Failed {
                reason: "later".to_owned(),
                source: None,
            }
            .into()),
            Page::NoAnswer => Err(JournalError::NoAnswer { host }),
        }
    }

    async fn list(&self, _: usize) -> Result<Vec<RunSummary>, EngineError> {
        self.check_reachable().map(|()| Vec::new())
    }
}
