//! The client of one session.

use std::fmt;
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
use super::{Command, Commands, Program, Query};

/// The client of one session. The program starts with the first query.
///
/// A task owns the program. It goes on whether or not anybody looks at the stream, and ends the
/// program when the client is disposed of or dropped. A control does not keep it.
pub struct ProgramClient<P: Program> {
    commands: mpsc::Sender<Command>,
    /// The actor, until it is started.
    actor: Option<Actor<P>>,
    /// Whether the last query is over.
    last: CancellationToken,
}

impl<P: Program> ProgramClient<P> {
    /// Makes the client of a session of `spec`.
    pub fn new(options: Arc<P::Options>, spec: SessionSpec) -> Self {
        let (commands, queue) = mpsc::channel(8);
        let last = CancellationToken::new();
        last.cancel();
        Self {
            last,
            commands,
            actor: Some(Actor::new(options, spec, Commands::new(queue))),
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
        let begun = async move {
            // Who dropped the stream of a turn may ask again while that is still being stopped.
            last.cancelled().await;
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
        Arc::new(ProgramControl {
            commands: self.commands.downgrade(),
            no_steering: P::NO_STEERING,
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

type Item = Result<StreamEvent, AgentError>;

async fn next(mut state: Batches) -> Option<(Vec<Item>, Batches)> {
    if state.is_over {
        return None;
    }
    let batch = state.batches.recv().await.unwrap_or_else(|| {
        let reason = "the session ended without saying how";
        vec![Err(AgentError::new(AgentErrorKind::Crashed, reason))]
    });
    let is_end = |item: &Item| matches!(item, Err(_) | Ok(StreamEvent::End { .. }));
    state.is_over = batch.iter().any(is_end);
    Some((batch, state))
}

/// Reaches a session while its stream is open.
///
/// It does not keep the session: who forgets to let go of it must not keep a program running.
struct ProgramControl {
    commands: mpsc::WeakSender<Command>,
    no_steering: Option<&'static str>,
}

#[async_trait]
impl SessionControl for ProgramControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        // A session that is over has nothing to stop.
        let Some(commands) = self.commands.upgrade() else {
            return Ok(());
        };
        ask(&commands, Command::Interrupt).await.unwrap_or(Ok(()))
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        if let Some(reason) = self.no_steering {
            return Err(AgentError::new(AgentErrorKind::Unsupported, reason));
        }
        let over = || AgentError::new(AgentErrorKind::Other, "the session is over");
        let commands = self.commands.upgrade().ok_or_else(over)?;
        let text = text.to_owned();
        let steered = ask(&commands, |reply| Command::Steer(text, reply)).await;
        steered.unwrap_or_else(|| Err(over()))
    }
}
