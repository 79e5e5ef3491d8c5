//! How a person reaches a run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{RunMessage, RunRequest};

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
    requests: Mutex<VecDeque<RunRequest>>,
    arrived: Notify,
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
        self.send(RunRequest::Pause);
    }

    /// Lets a paused run go on.
    pub fn resume(&self) {
        self.send(RunRequest::Resume);
    }

    /// Tells the agent something: in the running session if the backend can
    /// take it there, else in the prompt of the next one.
    pub fn instruct(&self, text: impl Into<String>) {
        self.tell(RunMessage::new(text));
    }

    /// Tells the agent something, as [`instruct`](Self::instruct) does, and is told when it was.
    pub fn tell(&self, message: RunMessage) {
        self.send(RunRequest::Say(message));
    }

    /// Puts back what was taken and not dealt with: it is the next thing again.
    pub fn put_back(&self, request: RunRequest) {
        self.requests().push_front(request);
        self.inbox.arrived.notify_one();
    }

    /// Returns a token that is cancelled when the run is.
    pub(super) fn token(&self) -> CancellationToken {
        self.cancelled.child_token()
    }

    /// Waits until the run is cancelled.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Returns the next thing that was asked for. Nothing is lost when the future is dropped.
    ///
    /// Core's own sessions take what is asked for; this is for who carries out a run in another
    /// way, or wants to tell its agents by itself.
    pub async fn next_request(&self) -> RunRequest {
        loop {
            let arrived = self.inbox.arrived.notified();
            match self.waiting_request() {
                Some(request) => return request,
                None => arrived.await,
            }
        }
    }

    /// Returns the next thing that was asked for, if there is one.
    pub fn waiting_request(&self) -> Option<RunRequest> {
        self.requests().pop_front()
    }

    fn send(&self, request: RunRequest) {
        self.requests().push_back(request);
        self.inbox.arrived.notify_one();
    }

    fn requests(&self) -> MutexGuard<'_, VecDeque<RunRequest>> {
        let requests = self.inbox.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner)
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
