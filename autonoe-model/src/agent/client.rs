//! The client of one session.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentError, AgentErrorKind, MessageStream, Prompt, SessionControl, SessionSpec,
    StreamEvent, Tool,
};
use futures::{StreamExt, stream};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::ModelAgentOptions;
use super::control::Reach;
use super::work::Work;
use crate::contract::ModelClient;

/// The client of one session. Its work is done by a task of its own, polled or not.
pub(super) struct ModelAgent {
    /// Held for the length of a turn.
    work: Arc<Mutex<Work>>,
    reach: Reach,
    /// Ends everything.
    over: CancellationToken,
    _over_when_dropped: DropGuard,
}

impl ModelAgent {
    pub(super) fn new(
        options: Arc<ModelAgentOptions>,
        model: Arc<dyn ModelClient>,
        tools: Vec<Arc<dyn Tool>>,
        spec: SessionSpec,
    ) -> Result<Self, AgentError> {
        let over = CancellationToken::new();
        let reach = Reach::default();
        let work = Work::new(options, model, tools, spec, reach.clone())?;
        Ok(Self {
            work: Arc::new(Mutex::new(work)),
            reach,
            _over_when_dropped: over.clone().drop_guard(),
            over,
        })
    }
}

#[async_trait]
impl AgentClient for ModelAgent {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (work, over) = (self.work.clone(), &self.over);
        // Nothing happens before somebody listens.
        stream::once(async move {
            let (events, heard) = mpsc::unbounded_channel();
            let turn = over.child_token();
            let stop = turn.clone();
            tokio::spawn(async move {
                let mut work = work.lock().await;
                tokio::select! {
                    biased;
                    () = stop.cancelled() => work.abandon(),
                    () = work.turn(prompt.text, &events) => {}
                }
            });
            Heard {
                events: heard,
                _stop: turn.drop_guard(),
                is_over: false,
            }
        })
        .flat_map(|heard| stream::unfold(heard, next))
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(self.reach.clone())
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.over.cancel();
        // Who holds it is at work, and drops what it has begun before it lets go.
        self.work.lock().await.end().await
    }
}

/// What is heard of a turn. The turn is stopped when this is dropped.
struct Heard {
    events: mpsc::UnboundedReceiver<Item>,
    _stop: DropGuard,
    is_over: bool,
}

pub(super) type Item = Result<StreamEvent, AgentError>;

async fn next(mut heard: Heard) -> Option<(Item, Heard)> {
    if heard.is_over {
        return None;
    }
    let item = heard.events.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without saying how";
        Err(AgentError::new(AgentErrorKind::Crashed, reason))
    });
    heard.is_over = matches!(item, Err(_) | Ok(StreamEvent::End { .. }));
    Some((item, heard))
}
