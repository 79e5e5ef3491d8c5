//! What a tool is told about the call that it carries out.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Assistant, Events, RunEventKind};
use crate::domain::SessionKey;

/// Hears the progress of one call: what the tool does now, and details by its own names.
type ProgressListener = dyn Fn(&str, &Map<String, Value>) + Send + Sync;

/// What a tool is told about the call that it carries out, and how it tells its progress.
///
/// ```
/// use autonoe_core::{RunId, SessionKey, ToolContext};
///
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
/// let context = ToolContext::new(session).with_call_id("call-7");
///
/// assert!(!context.cancelled.is_cancelled());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// The session that the call belongs to.
    pub session: SessionKey,
    /// The agent's message that the call stands in, when the backend tells it.
    pub message_id: Option<String>,
    /// The call, when the backend tells it.
    pub call_id: Option<String>,
    /// The sub-agent that calls; `None` for the main agent.
    pub agent: Option<String>,
    /// Data that the embedder hands to its tools.
    pub extra: Map<String, Value>,
    /// Is cancelled when nobody waits for the result any more.
    pub cancelled: CancellationToken,
    /// Answers what the tool asks a model for; `None` where nobody can.
    pub assistant: Option<Arc<dyn Assistant>>,
    listener: Option<Arc<ProgressListener>>,
    pub(super) tool: String,
    pub(super) events: Events,
}

impl ToolContext {
    /// Makes the context of a call in `session`; the rest is set by `with_*`.
    pub fn new(session: SessionKey) -> Self {
        Self {
            session,
            message_id: None,
            call_id: None,
            agent: None,
            extra: Map::new(),
            cancelled: CancellationToken::new(),
            assistant: None,
            listener: None,
            tool: String::new(),
            events: Events::silent(),
        }
    }

    /// Sets the agent's message.
    #[must_use]
    pub fn with_message_id(mut self, id: impl Into<String>) -> Self {
        self.message_id = Some(id.into());
        self
    }

    /// Sets the call.
    #[must_use]
    pub fn with_call_id(mut self, id: impl Into<String>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    /// Sets the sub-agent.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Sets the token that ends the call early.
    #[must_use]
    pub fn with_cancellation(mut self, cancelled: CancellationToken) -> Self {
        self.cancelled = cancelled;
        self
    }

    /// Sets who answers what the tool asks a model for.
    #[must_use]
    pub fn with_assistant(mut self, assistant: impl Assistant + 'static) -> Self {
        self.assistant = Some(Arc::new(assistant));
        self
    }

    /// Sets who hears the progress of the call, beside the observers: an agent that waits for it.
    ///
    /// It is called on the thread of the tool, which waits for it.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use autonoe_core::{RunId, SessionKey, ToolContext};
    ///
    /// let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    /// let keep = heard.clone();
    /// let session = SessionKey { run: RunId::new("run"), number: 1 };
    /// let context = ToolContext::new(session).with_progress_listener(move |title, _| {
    ///     keep.lock().unwrap().push(title.to_owned());
    /// });
    ///
    /// context.progress("Looking");
    ///
    /// assert_eq!(*heard.lock().unwrap(), ["Looking"]);
    /// ```
    #[must_use]
    pub fn with_progress_listener(
        mut self,
        listener: impl Fn(&str, &Map<String, Value>) + Send + Sync + 'static,
    ) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Returns the place of the call in the tree of the run, to tell what comes of it.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Tells the observers what the tool does now, in a few words; may be called often.
    pub fn progress(&self, title: &str) {
        self.progress_with(title, &Map::new());
    }

    /// Tells the observers what the tool does now, with details by the tool's own names.
    pub fn progress_with(&self, title: &str, metadata: &Map<String, Value>) {
        self.events.emit(RunEventKind::ToolProgress {
            tool: &self.tool,
            call_id: self.call_id.as_deref(),
            title,
            metadata,
        });
        if let Some(listener) = &self.listener {
            listener(title, metadata);
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("session", &self.session)
            .field("call_id", &self.call_id)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}
