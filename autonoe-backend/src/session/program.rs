//! [`Program`], the interface between a session and the program of a backend, and its commands.

use std::collections::VecDeque;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentError, SessionSpec, StreamEvent};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::ProgramTurn;
use crate::ProgramOptions;

/// A running program, and the connection to it.
///
/// A [`ProgramClient`](super::ProgramClient) starts it with the first query and owns it from then
/// on. The methods are called in this order: `launch`, `ready`, any number of times `start_turn`,
/// and finally `end`.
pub trait Program: Sized + Send + 'static {
    /// Its options, which are the same for all sessions.
    type Options: Send + Sync + 'static;

    /// One turn, which borrows the program.
    type Turn<'a>: ProgramTurn;

    /// Its name in errors.
    const NAME: &str;

    /// The prefix of the names of its session folders.
    const FOLDER: &str;

    /// The reason why it does not accept messages during a turn, if it does not.
    const NO_STEERING: Option<&str> = None;

    /// Returns the options that all programs have.
    fn program_options(options: &Self::Options) -> &ProgramOptions;

    /// Starts it. It must become [ready](Self::ready) before the first turn.
    ///
    /// # Errors
    ///
    /// The program cannot be started. None of its processes is left.
    fn launch(
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<Self, AgentError>> + Send;

    /// Waits until it is ready for a prompt, and checks that it runs with the requested settings.
    ///
    /// The future is dropped together with the query.
    ///
    /// # Errors
    ///
    /// The program is not ready, or runs with other settings. Its processes may still run.
    fn ready(
        &mut self,
        options: &Self::Options,
        spec: &SessionSpec,
    ) -> impl Future<Output = Result<(), AgentError>> + Send;

    /// Sends `prompt`, and adds the first events of the turn to `events`.
    ///
    /// # Errors
    ///
    /// It cannot run a turn, and must be ended.
    fn start_turn<'a>(
        &'a mut self,
        options: &'a Self::Options,
        spec: &'a SessionSpec,
        prompt: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<Self::Turn<'a>, AgentError>;

    /// Ends it, and everything that it started. From now on, calls are denied.
    fn end(self) -> impl Future<Output = ()> + Send;
}

/// The next step after a query.
#[derive(Debug)]
pub(super) enum AfterQuery {
    /// Nothing: the program waits for the next prompt.
    Ready,
    /// The program must be ended.
    Unusable,
    /// Everything must be ended. The sender is notified when that is done.
    Disposed(oneshot::Sender<()>),
}

/// Receives the commands to the owner of a program.
#[derive(Debug)]
pub(super) struct CommandQueue {
    queue: mpsc::Receiver<ProgramCommand>,
    /// Commands that arrived too early.
    deferred: VecDeque<ProgramCommand>,
}

impl CommandQueue {
    pub(super) fn new(queue: mpsc::Receiver<ProgramCommand>) -> Self {
        Self {
            queue,
            deferred: VecDeque::new(),
        }
    }

    /// Waits for the next command; `None` if all senders are dropped. Dropping the future loses
    /// nothing.
    pub(super) async fn recv(&mut self) -> Option<ProgramCommand> {
        match self.deferred.pop_front() {
            Some(command) => Some(command),
            None => self.queue.recv().await,
        }
    }

    /// Waits for the next new command, and skips deferred ones.
    pub(super) async fn recv_new(&mut self) -> Option<ProgramCommand> {
        self.queue.recv().await
    }

    /// Defers a command that arrived too early until the next [`recv`](Self::recv).
    pub(super) fn defer(&mut self, command: ProgramCommand) {
        self.deferred.push_back(command);
    }
}

/// A command to the owner of a program.
#[derive(Debug)]
pub(super) enum ProgramCommand {
    /// Runs a prompt.
    Query(Query),
    /// Stops the turn.
    Interrupt(oneshot::Sender<Result<(), AgentError>>),
    /// Sends a message to the agent during its turn.
    Steer(String, oneshot::Sender<Result<(), AgentError>>),
    /// Shuts everything down.
    Dispose(oneshot::Sender<()>),
}

/// A prompt, and the channel for its events.
#[derive(Debug)]
pub(super) struct Query {
    /// The prompt for the agent.
    pub(super) prompt: String,
    /// Cancelled when the stream of the query is dropped.
    pub(super) dropped: CancellationToken,
    /// Batches of events; the last one ends with `End` or an error.
    pub(super) events: mpsc::UnboundedSender<Vec<Result<StreamEvent, AgentError>>>,
    /// Signals the end of the query, so that the next one can start.
    pub(super) _over: DropGuard,
}

impl Query {
    /// Sends events to the stream, as one batch.
    pub(super) fn send(&self, events: impl IntoIterator<Item = StreamEvent>) {
        let events: Vec<_> = events.into_iter().map(Ok).collect();
        if !events.is_empty() {
            // If the receiver is gone, the query was dropped.
            let _ = self.events.send(events);
        }
    }

    /// Sends the end of the query.
    pub(super) fn end(self, end: Result<StreamEvent, AgentError>) {
        let _ = self.events.send(vec![end]);
    }

    /// Refuses the query because another one is running: a client runs one query at a time.
    pub(super) fn refuse(self) {
        let reason = "a turn is still in progress";
        self.end(Err(AgentError::new(AgentErrorKind::Other, reason)));
    }
}
