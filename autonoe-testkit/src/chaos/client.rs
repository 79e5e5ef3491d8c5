//! One session in which something may go wrong.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::{AgentClient, AgentError, MessageStream, Prompt, SessionControl};

use super::disturbed::disturb;
use super::fault::FaultHit;
use super::plan::Plan;

/// What was seen of all sessions.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) hits: Mutex<Vec<FaultHit>>,
    pub(super) created: AtomicUsize,
    pub(super) disposed: AtomicUsize,
}

/// A client whose streams have the fault of `plan`.
pub(super) struct FaultyClient {
    pub(super) inner: Box<dyn AgentClient>,
    pub(super) session: u32,
    pub(super) plan: Option<Plan>,
    pub(super) seen: Arc<Seen>,
}

#[async_trait]
impl AgentClient for FaultyClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let stream = self.inner.query(prompt);
        let Some(plan) = self.plan else {
            return stream;
        };
        let hit = FaultHit {
            session: self.session,
            fault: plan.fault,
        };
        let seen = self.seen.clone();
        disturb(stream, plan, move || {
            seen.hits
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(hit);
        })
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.seen.disposed.fetch_add(1, Ordering::Relaxed);
        self.inner.dispose().await
    }
}
