//! [`AgentClient`] of one session.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl};
use autonoe_core::{AgentClient, AgentError, MessageStream, SessionSpec, StreamEvent, Tool};
use futures::{StreamExt, stream};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::ModelAgentOptions;
use super::agent_loop::AgentLoop;
use super::control::TurnControl;
use crate::contract::ModelClient;

/// Client of one session. Each turn runs in its own task, independent of polling.
pub(super) struct ModelAgent {
    /// Locked for the length of a turn.
    work: Arc<Mutex<AgentLoop>>,
    reach: TurnControl,
    /// Cancels everything.
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
        let reach = TurnControl::default();
        let work = AgentLoop::new(options, model, tools, spec, reach.clone())?;
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
        // Nothing starts before the stream is polled.
        stream::once(async move {
            let (events, receiver) = mpsc::unbounded_channel();
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
            TurnEvents {
                events: receiver,
                _stop: turn.drop_guard(),
                is_over: false,
            }
        })
        .flat_map(|turn| stream::unfold(turn, next))
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(self.reach.clone())
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.over.cancel();
        // A running turn holds the lock and releases it after dropping its work.
        self.work.lock().await.end().await
    }
}

/// Receiver of a turn's events. Dropping it stops the turn.
struct TurnEvents {
    events: mpsc::UnboundedReceiver<TurnItem>,
    _stop: DropGuard,
    is_over: bool,
}

pub(super) type TurnItem = Result<StreamEvent, AgentError>;

async fn next(mut turn: TurnEvents) -> Option<(TurnItem, TurnEvents)> {
    if turn.is_over {
        return None;
    }
    let item = turn.events.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without an outcome";
        Err(AgentError::new(AgentErrorKind::Crashed, reason))
    });
    turn.is_over = matches!(item, Err(_) | Ok(StreamEvent::End { .. }));
    Some((item, turn))
}
