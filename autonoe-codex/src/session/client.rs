//! The client of one session.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentError, AgentErrorKind, MessageStream, Prompt, SessionControl, SessionSpec,
};
use futures::{StreamExt, stream};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::actor::{Actor, ask};
use super::commands::{Command, Query};
use crate::launch::CodexOptions;

/// The client of one session. The program starts with the first query.
pub(crate) struct CodexClient {
    commands: mpsc::Sender<Command>,
    /// The actor, until it is started.
    actor: Option<Actor>,
}

impl CodexClient {
    pub(crate) fn new(options: Arc<CodexOptions>, spec: SessionSpec) -> Self {
        let (commands, queue) = mpsc::channel(8);
        Self {
            commands,
            actor: Some(Actor::new(options, spec, queue)),
        }
    }
}

#[async_trait]
impl AgentClient for CodexClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        if let Some(actor) = self.actor.take() {
            tokio::spawn(actor.run());
        }
        let (events, batches) = mpsc::unbounded_channel();
        let dropped = CancellationToken::new();
        let query = Query {
            prompt: prompt.text,
            events,
            dropped: dropped.clone(),
        };
        let commands = self.commands.clone();
        let begun = async move {
            // If the actor is gone, the batches end without an end.
            let _ = commands.send(Command::Query(query)).await;
            Batches {
                batches,
                _guard: dropped.drop_guard(),
                is_over: false,
            }
        };
        stream::once(begun)
            .flat_map(|batches| stream::unfold(batches, next))
            .flat_map(stream::iter)
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(CodexControl {
            commands: self.commands.clone(),
        })
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        if self.actor.is_none() {
            // An actor that is gone has ended everything already.
            let _ = ask(&self.commands, Command::Dispose).await;
        }
        Ok(())
    }
}

/// What comes of a query. The turn is stopped when this is dropped.
struct Batches {
    batches: mpsc::UnboundedReceiver<Vec<Item>>,
    _guard: DropGuard,
    is_over: bool,
}

type Item = Result<autonoe_core::StreamEvent, AgentError>;

async fn next(mut state: Batches) -> Option<(Vec<Item>, Batches)> {
    if state.is_over {
        return None;
    }
    let batch = state.batches.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without saying how";
        vec![Err(AgentError::new(AgentErrorKind::Crashed, reason))]
    });
    state.is_over = batch
        .iter()
        .any(|item| matches!(item, Err(_) | Ok(autonoe_core::StreamEvent::End { .. })));
    Some((batch, state))
}

/// Reaches a session while its stream is open.
struct CodexControl {
    commands: mpsc::Sender<Command>,
}

#[async_trait]
impl SessionControl for CodexControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        // A session that is over has nothing to stop.
        ask(&self.commands, Command::Interrupt)
            .await
            .unwrap_or(Ok(()))
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        let text = text.to_owned();
        let steered = ask(&self.commands, |reply| Command::Steer(text, reply)).await;
        steered.unwrap_or_else(|| {
            let reason = "the session is over";
            Err(AgentError::new(AgentErrorKind::Other, reason))
        })
    }
}
