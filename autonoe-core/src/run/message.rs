//! [`RunMessage`] and [`RunRequest`], the operator's input to a run.

use std::fmt;

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
