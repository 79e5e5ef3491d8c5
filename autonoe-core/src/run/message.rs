//! What a run is told by persons.

use std::fmt;

/// Something that an agent of a run is to be told.
///
/// It is told to the next turn of an agent. Whoever carries out the run settles it when that turn
/// is over and can be taken to have had a reader; what is not settled is told again, to the next
/// turn and by the next process. What is settled never is.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::sync::Arc;
///
/// use autonoe_core::{RunControl, RunMessage, RunRequest};
///
/// let settled = Arc::new(AtomicBool::new(false));
/// let noted = settled.clone();
/// let control = RunControl::new();
/// control.tell(RunMessage::new("Use Postgres.").with_id("7").with_receipt(move || {
///     noted.store(true, Ordering::Relaxed);
/// }));
///
/// let Some(RunRequest::Say(message)) = control.waiting_request() else { panic!("it is there") };
/// // Here goes the turn, with `message.text()` in its prompt.
/// message.settle();
///
/// assert!(settled.load(Ordering::Relaxed));
/// ```
pub struct RunMessage {
    text: String,
    id: Option<String>,
    receipt: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl RunMessage {
    /// Makes a message.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            id: None,
            receipt: None,
        }
    }

    /// Gives it an id, which is the same whenever it is told again.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Has `receipt` called when it is settled. The call must return soon.
    #[must_use]
    pub fn with_receipt(mut self, receipt: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.receipt = Some(Box::new(receipt));
        self
    }

    /// Returns what is to be told.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its id, if whoever sent it remembers it.
    ///
    /// A runner that records its turns durably records the ids with them, and settles at once what
    /// it finds recorded: then a kill at any moment tells nothing twice.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Says that an agent has been told.
    pub fn settle(self) {
        if let Some(receipt) = self.receipt {
            receipt();
        }
    }
}

impl fmt::Debug for RunMessage {
    // The text is the user's and does not belong into diagnostics.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunMessage")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// What a person asked of a run, other than to cancel it.
#[derive(Debug)]
pub enum RunRequest {
    /// Begin nothing more until the run is resumed.
    Pause,
    /// Go on.
    Resume,
    /// Tell the agent something.
    Say(RunMessage),
}
