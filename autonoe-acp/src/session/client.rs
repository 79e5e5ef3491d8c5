//! The client of one session.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentError, AgentErrorKind, MessageStream, Prompt, SessionControl, SessionSpec,
    StreamEvent,
};
use futures::{StreamExt, stream};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::actor::{Actor, ask};
use super::commands::{Command, Query};
use crate::launch::AcpOptions;

/// The client of one session. The program starts with the first query.
pub(crate) struct AcpClient {
    commands: mpsc::Sender<Command>,
    /// The actor, until it is started.
    actor: Option<Actor>,
}

impl AcpClient {
    pub(crate) fn new(options: Arc<AcpOptions>, spec: SessionSpec) -> Self {
        let (commands, queue) = mpsc::channel(8);
        Self {
            commands,
            actor: Some(Actor::new(options, spec, queue)),
        }
    }
}

#[async_trait]
impl AgentClient for AcpClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        if let Some(actor) = self.actor.take() {
            tokio::spawn(actor.run());
        }
        let (tell, events) = mpsc::unbounded_channel();
        let dropped = CancellationToken::new();
        let query = Query {
            prompt: prompt.text,
            events: tell,
            dropped: dropped.clone(),
        };
        let commands = self.commands.clone();
        let begun = async move {
            // If the actor is gone, the events end without an end.
            let _ = commands.send(Command::Query(query)).await;
            Heard {
                events,
                _guard: dropped.drop_guard(),
                is_over: false,
            }
        };
        stream::once(begun)
            .flat_map(|heard| stream::unfold(heard, next))
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(AcpControl {
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
struct Heard {
    events: mpsc::UnboundedReceiver<Result<StreamEvent, AgentError>>,
    _guard: DropGuard,
    is_over: bool,
}

async fn next(mut state: Heard) -> Option<(Result<StreamEvent, AgentError>, Heard)> {
    if state.is_over {
        return None;
    }
    let item = state.events.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without saying how";
        Err(AgentError::new(AgentErrorKind::Crashed, reason))
    });
    state.is_over = matches!(item, Err(_) | Ok(StreamEvent::End { .. }));
    Some((item, state))
}

/// Reaches a session while its stream is open.
struct AcpControl {
    commands: mpsc::Sender<Command>,
}

#[async_trait]
impl SessionControl for AcpControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        // A session that is over has nothing to stop.
        let _ = ask(&self.commands, Command::Interrupt).await;
        Ok(())
    }

    async fn steer(&self, _text: &str) -> Result<(), AgentError> {
        Err(AgentError::new(
            AgentErrorKind::Unsupported,
            "an agent of this protocol cannot be told anything in the middle of its turn",
        ))
    }
}
