//! What the owner of a program is told.

use std::collections::VecDeque;

use autonoe_core::{AgentError, AgentErrorKind, StreamEvent};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Where the owner of a program hears what it is told.
#[derive(Debug)]
pub struct Commands {
    queue: mpsc::Receiver<Command>,
    /// What came too early.
    kept: VecDeque<Command>,
}

impl Commands {
    pub(super) fn new(queue: mpsc::Receiver<Command>) -> Self {
        Self {
            queue,
            kept: VecDeque::new(),
        }
    }

    /// Waits for what is told next; `None` if nobody is left who could tell anything. Nothing is
    /// lost when the future is dropped.
    pub async fn recv(&mut self) -> Option<Command> {
        match self.kept.pop_front() {
            Some(command) => Some(command),
            None => self.queue.recv().await,
        }
    }

    /// Waits for what is told next, past what is kept.
    pub(super) async fn recv_new(&mut self) -> Option<Command> {
        self.queue.recv().await
    }

    /// Keeps what came too early for whoever [listens](Self::recv) next.
    pub(super) fn keep(&mut self, command: Command) {
        self.kept.push_back(command);
    }
}

/// What the owner of a program is told.
#[derive(Debug)]
pub enum Command {
    /// To work on a prompt.
    Query(Query),
    /// To stop the turn.
    Interrupt(oneshot::Sender<Result<(), AgentError>>),
    /// To tell the agent something in the middle of its turn.
    Steer(String, oneshot::Sender<Result<(), AgentError>>),
    /// To end everything.
    Dispose(oneshot::Sender<()>),
}

/// A prompt, and where what comes of it goes.
#[derive(Debug)]
pub struct Query {
    /// What the agent is asked.
    pub prompt: String,
    /// Nobody looks any more.
    pub dropped: CancellationToken,
    /// Batches of events; the last one ends with `End` or an error.
    pub(super) events: mpsc::UnboundedSender<Vec<Result<StreamEvent, AgentError>>>,
    /// Tells that it is over, so that the next one may come.
    pub(super) _over: DropGuard,
}

impl Query {
    /// Tells what came of it, in one piece.
    pub fn tell(&self, events: impl IntoIterator<Item = StreamEvent>) {
        let events: Vec<_> = events.into_iter().map(Ok).collect();
        if !events.is_empty() {
            // Whoever does not listen any more has dropped the query.
            let _ = self.events.send(events);
        }
    }

    /// Tells how it ended.
    pub fn end(self, end: Result<StreamEvent, AgentError>) {
        let _ = self.events.send(vec![end]);
    }

    /// Refuses it because another one is under way: a client asks one thing after the other.
    pub fn refuse(self) {
        let reason = "a turn is still under way";
        self.end(Err(AgentError::new(AgentErrorKind::Other, reason)));
    }
}
