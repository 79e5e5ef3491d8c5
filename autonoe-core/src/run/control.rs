//! How a person reaches a run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Reaches a run from outside: cancel, pause, resume, instruct.
///
/// Cheap to clone; all clones reach the same run. Make a new one for each run.
/// Whatever is asked before the run starts holds from its start.
///
/// ```
/// use autonoe_core::RunControl;
///
/// let control = RunControl::new();
/// let for_the_signal_handler = control.clone();
///
/// for_the_signal_handler.cancel();
///
/// assert!(control.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunControl {
    cancelled: CancellationToken,
    inbox: Arc<Inbox>,
}

#[derive(Debug, Default)]
struct Inbox {
    commands: Mutex<VecDeque<Command>>,
    arrived: Notify,
}

/// What a person asked for, other than to cancel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Pause,
    Resume,
    Instruct(String),
}

impl RunControl {
    /// Makes the control of one run.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run at once: in a session, in a pause and in a wait.
    ///
    /// The session is disposed of and the report says `interrupted`.
    pub fn cancel(&self) {
        self.cancelled.cancel();
    }

    /// Tells whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Holds the run before its next session; the one under way goes on.
    pub fn pause(&self) {
        self.send(Command::Pause);
    }

    /// Lets a paused run go on.
    pub fn resume(&self) {
        self.send(Command::Resume);
    }

    /// Tells the agent something: in the running session if the backend can
    /// take it there, else in the prompt of the next one.
    pub fn instruct(&self, text: impl Into<String>) {
        self.send(Command::Instruct(text.into()));
    }

    /// Returns a token that is cancelled when the run is.
    pub(super) fn token(&self) -> CancellationToken {
        self.cancelled.child_token()
    }

    /// Waits until the run is cancelled.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Returns the next command. Nothing is lost when the future is dropped.
    pub(super) async fn next_command(&self) -> Command {
        loop {
            let arrived = self.inbox.arrived.notified();
            match self.waiting_command() {
                Some(command) => return command,
                None => arrived.await,
            }
        }
    }

    /// Returns the next command if there is one.
    pub(super) fn waiting_command(&self) -> Option<Command> {
        self.inbox
            .commands
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    fn send(&self, command: Command) {
        self.inbox
            .commands
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(command);
        self.inbox.arrived.notify_one();
    }
}

impl From<CancellationToken> for RunControl {
    /// Makes a control that `token` cancels. Cancelling the run does not cancel `token`.
    fn from(token: CancellationToken) -> Self {
        Self {
            cancelled: token.child_token(),
            inbox: Arc::default(),
        }
    }
}
