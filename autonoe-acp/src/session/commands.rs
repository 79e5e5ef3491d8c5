//! What the actor of a session is told.

use autonoe_core::{AgentError, StreamEvent};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// What the actor of a session is told.
pub(super) enum Command {
    /// To work on a prompt.
    Query(Query),
    /// To stop the turn.
    Interrupt(oneshot::Sender<()>),
    /// To end everything.
    Dispose(oneshot::Sender<()>),
}

/// A prompt, and where what comes of it goes.
pub(super) struct Query {
    pub(super) prompt: String,
    /// Events; the last one is `End` or an error.
    pub(super) events: mpsc::UnboundedSender<Result<StreamEvent, AgentError>>,
    /// Nobody looks any more.
    pub(super) dropped: CancellationToken,
}

impl Query {
    pub(super) fn tell(&self, events: impl IntoIterator<Item = StreamEvent>) {
        for event in events {
            // Whoever does not listen any more has dropped the query.
            let _ = self.events.send(Ok(event));
        }
    }

    pub(super) fn end(self, end: Result<StreamEvent, AgentError>) {
        let _ = self.events.send(end);
    }
}
