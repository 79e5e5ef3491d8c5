//! [`RunControl`], the handle to cancel, pause, resume and instruct a run, and the operator's requests.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

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
    inbox: Arc<RequestQueue>,
}

#[derive(Debug, Default)]
struct RequestQueue {
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

/// A message for an agent of a run.
///
/// It becomes part of the agent's next turn. The driver of the run settles it when that turn is
/// over and the agent presumably read it. A message that is not settled is sent again, to the next
/// turn and by the next process. A settled message is never sent again.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::sync::Arc;
///
/// use autonoe_core::run::{RunMessage, RunRequest};
/// use autonoe_core::RunControl;
///
/// let settled = Arc::new(AtomicBool::new(false));
/// let noted = settled.clone();
/// let control = RunControl::new();
/// control.send_message(RunMessage::new("Use Postgres.").with_id("7").with_receipt(move || {
///     noted.store(true, Ordering::Relaxed);
/// }));
///
/// let Some(RunRequest::Instruct(message)) = control.try_next_request() else { panic!("it is there") };
/// // Here goes the turn, with `message.text()` in its prompt.
/// message.acknowledge();
///
/// assert!(settled.load(Ordering::Relaxed));
/// ```
pub struct RunMessage {
    text: String,
    id: Option<String>,
    receipt: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl RunMessage {
    /// Creates a message.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            id: None,
            receipt: None,
        }
    }

    /// Sets an ID, which stays the same when the message is sent again.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets a function that is called when the message is settled. It must return quickly.
    #[must_use]
    pub fn with_receipt(mut self, receipt: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.receipt = Some(Box::new(receipt));
        self
    }

    /// Returns the text of the message.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the ID, if the sender set one.
    ///
    /// A runner that records its turns durably records the IDs with them, and immediately settles
    /// messages that it finds recorded. Then no message is sent twice, even if the process is
    /// killed.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Marks the message as delivered to an agent and calls its receipt.
    pub fn acknowledge(self) {
        if let Some(receipt) = self.receipt {
            receipt();
        }
    }
}

impl fmt::Debug for RunMessage {
    // The text belongs to the user and must not appear in diagnostics.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunMessage")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A request to a run, other than its cancellation.
#[derive(Debug)]
pub enum RunRequest {
    /// Start no session until the run is resumed.
    Pause,
    /// Resume the run.
    Resume,
    /// Send the agent a message.
    Instruct(RunMessage),
}

/// Receives the operator's requests during a session, a wait or a pause.
pub(crate) trait Inbox: Send {
    /// Handles a request.
    fn receive(&mut self, request: RunRequest);

    /// Records a message that the running session accepted.
    fn record_steered(&mut self, message: RunMessage);

    /// Queues a message again that the running session accepted but its agent did not read.
    fn requeue(&mut self, text: String);
}
