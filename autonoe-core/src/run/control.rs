//! [`RunControl`], the handle to cancel, pause, resume and instruct a run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{RunMessage, RunRequest};

/// Controls a run from outside: cancel, pause, resume, instruct.
///
/// Cheap to clone; all clones control the same run. Create a new one for each run. A request that
/// arrives before the run starts applies from its start.
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
    /// Creates the control of one run.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run immediately: in a session, in a pause and in a wait.
    ///
    /// The session is disposed of, and the exit reason of the report is `interrupted`.
    pub fn cancel(&self) {
        self.cancelled.cancel();
    }

    /// Returns whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Pauses the run before its next session; the running session continues.
    pub fn pause(&self) {
        self.send(RunRequest::Pause);
    }

    /// Resumes a paused run.
    pub fn resume(&self) {
        self.send(RunRequest::Resume);
    }

    /// Sends a message to the agent: into the running session if the backend supports steering,
    /// otherwise into the prompt of the next session.
    pub fn instruct(&self, text: impl Into<String>) {
        self.send_message(RunMessage::new(text));
    }

    /// Sends a message to the agent, as [`instruct`](Self::instruct) does. The message can carry a
    /// delivery receipt.
    pub fn send_message(&self, message: RunMessage) {
        self.send(RunRequest::Instruct(message));
    }

    /// Returns an unhandled request to the front of the queue.
    pub fn requeue(&self, request: RunRequest) {
        self.requests().push_front(request);
        self.inbox.arrived.notify_one();
    }

    /// Returns a child token, which is cancelled together with the run.
    pub(super) fn token(&self) -> CancellationToken {
        self.cancelled.child_token()
    }

    /// Waits until the run is cancelled.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Waits for the next request. Cancel safe: dropping the future loses no request.
    ///
    /// The sessions of this crate receive requests themselves. Call this to drive a run in another
    /// way, or to deliver messages to agents yourself.
    pub async fn next_request(&self) -> RunRequest {
        loop {
            let arrived = self.inbox.arrived.notified();
            match self.try_next_request() {
                Some(request) => return request,
                None => arrived.await,
            }
        }
    }

    /// Returns the next request, if one is queued.
    pub fn try_next_request(&self) -> Option<RunRequest> {
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
    /// Creates a control that `token` cancels. Cancelling the run does not cancel `token`.
    fn from(token: CancellationToken) -> Self {
        Self {
            cancelled: token.child_token(),
            inbox: Arc::default(),
        }
    }
}
