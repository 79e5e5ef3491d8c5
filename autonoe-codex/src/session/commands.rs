//! What the actor of a session is told.

use autonoe_core::{AgentError, StreamEvent};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// What the actor of a session is told.
pub(super) enum Command {
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
pub(super) struct Query {
    pub(super) prompt: String,
    /// Batches of events; the last one ends with `End` or an error.
    pub(super) events: mpsc::UnboundedSender<Vec<Result<StreamEvent, AgentError>>>,
    /// Nobody looks any more.
    pub(super) dropped: CancellationToken,
}

impl Query {
    pub(super) fn tell(&self, events: Vec<StreamEvent>) {
        if !events.is_empty() {
            // Whoever does not listen any more has dropped the query.
            let _ = self.events.send(events.into_iter().map(Ok).collect());
        }
    }

    pub(super) fn end(self, end: Result<StreamEvent, AgentError>) {
        let _ = self.events.send(vec![end]);
    }
}
