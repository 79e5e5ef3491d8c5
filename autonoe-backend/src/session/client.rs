//! [`ProgramClient`], the client of one session.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl};
use autonoe_core::{AgentClient, AgentError, MessageStream, SessionSpec, StreamEvent};
use futures::{StreamExt, stream};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::actor::{Actor, request};
use super::{CommandQueue, Program, ProgramCommand, Query};

/// The client of one session. The program starts with the first query.
///
/// A task owns the program. It runs whether or not the stream is polled, and shuts the program down
/// when the client is disposed of or dropped. A control does not keep the program running.
pub struct ProgramClient<P: Program> {
    commands: mpsc::Sender<ProgramCommand>,
    /// The actor, until it is started.
    actor: Option<Actor<P>>,
    /// Whether the last query is over.
    last: CancellationToken,
}

impl<P: Program> ProgramClient<P> {
    /// Creates the client of a session of `spec`.
    pub fn new(options: Arc<P::Options>, spec: SessionSpec) -> Self {
        let (commands, queue) = mpsc::channel(8);
        let last = CancellationToken::new();
        last.cancel();
        Self {
            last,
            commands,
            actor: Some(Actor::new(options, spec, CommandQueue::new(queue))),
        }
    }
}

impl<P: Program> fmt::Debug for ProgramClient<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramClient")
            .field("program", &P::NAME)
            .field("is_started", &self.actor.is_none())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<P: Program> AgentClient for ProgramClient<P> {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        if let Some(actor) = self.actor.take() {
            tokio::spawn(actor.run());
        }
        let (events, batches) = mpsc::unbounded_channel();
        let (dropped, over) = (CancellationToken::new(), CancellationToken::new());
        let query = Query {
            prompt: prompt.text,
            events,
            dropped: dropped.clone(),
            _over: over.clone().drop_guard(),
        };
        let last = std::mem::replace(&mut self.last, over);
        let commands = self.commands.clone();
        let start = async move {
            // A caller that dropped the stream of a turn may send another query while that turn is
            // being stopped.
            last.cancelled().await;
            // If the actor has ended, the stream of batches ends without an `End` event.
            let _ = commands.send(ProgramCommand::Query(query)).await;
            Batches {
                batches,
                _guard: dropped.drop_guard(),
                is_over: false,
            }
        };
        stream::once(start)
            .flat_map(|batches| stream::unfold(batches, next))
            .flat_map(stream::iter)
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(ProgramControl {
            commands: self.commands.downgrade(),
            no_steering: P::NO_STEERING,
        })
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        if self.actor.is_none() {
            // An actor that has ended has shut everything down already.
            let _ = request(&self.commands, ProgramCommand::Dispose).await;
        }
        Ok(())
    }
}

/// Receives the events of a query. Dropping it stops the turn.
struct Batches {
    batches: mpsc::UnboundedReceiver<Vec<Item>>,
    _guard: DropGuard,
    is_over: bool,
}

type Item = Result<StreamEvent, AgentError>;

async fn next(mut state: Batches) -> Option<(Vec<Item>, Batches)> {
    if state.is_over {
        return None;
    }
    let batch = state.batches.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without an outcome";
        vec![Err(AgentError::new(AgentErrorKind::Crashed, reason))]
    });
    let is_end = |item: &Item| matches!(item, Err(_) | Ok(StreamEvent::End { .. }));
    state.is_over = batch.iter().any(is_end);
    Some((batch, state))
}

/// Controls a session while its stream is open.
///
/// It does not keep the session alive: a forgotten control must not keep a program running.
struct ProgramControl {
    commands: mpsc::WeakSender<ProgramCommand>,
    no_steering: Option<&'static str>,
}

#[async_trait]
impl SessionControl for ProgramControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        // A finished session has nothing to stop.
        let Some(commands) = self.commands.upgrade() else {
            return Ok(());
        };
        request(&commands, ProgramCommand::Interrupt)
            .await
            .unwrap_or(Ok(()))
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        if let Some(reason) = self.no_steering {
            return Err(AgentError::new(AgentErrorKind::Unsupported, reason));
        }
        let over = || AgentError::new(AgentErrorKind::Other, "the session is over");
        let commands = self.commands.upgrade().ok_or_else(over)?;
        let text = text.to_owned();
        let steered = request(&commands, |reply| ProgramCommand::Steer(text, reply)).await;
        steered.unwrap_or_else(|| Err(over()))
    }
}
