//! [`ToolContext`] of a tool call, and the [`Assistant`] that answers requests of tools to a model.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::event::{Events, RunEventKind};
use crate::time::SessionKey;
use crate::tool::{AssistRequest, ToolError};

/// Callback for the progress of one call: a short title, and details in the tool's own format.
type ProgressListener = dyn Fn(&str, &Map<String, Value>) + Send + Sync;

/// Context of a tool call, through which the tool also reports its progress.
///
/// ```
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::{RunId, ToolContext};
///
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
/// let context = ToolContext::new(session).with_call_id("call-7");
///
/// assert!(!context.cancelled.is_cancelled());
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// Session of the call.
    pub session: SessionKey,
    /// Agent message that contains the call, if the backend reports it.
    pub message_id: Option<String>,
    /// Id of the call, if the backend reports it.
    pub call_id: Option<String>,
    /// Sub-agent that makes the call; `None` for the main agent.
    pub agent: Option<String>,
    /// Data that the embedder passes to its tools.
    pub extra: Map<String, Value>,
    /// Cancelled when the result is no longer needed.
    pub cancelled: CancellationToken,
    /// Answers requests of the tool to a model; `None` if no model is available.
    pub assistant: Option<Arc<dyn Assistant>>,
    listener: Option<Arc<ProgressListener>>,
    pub(super) tool: String,
    pub(super) events: Events,
}

impl ToolContext {
    /// Creates the context of a call in `session`. The `with_*` methods set the other fields.
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

    /// Sets the id of the agent's message.
    #[must_use]
    pub fn with_message_id(mut self, id: impl Into<String>) -> Self {
        self.message_id = Some(id.into());
        self
    }

    /// Sets the id of the call.
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

    /// Sets the token that cancels the call.
    #[must_use]
    pub fn with_cancellation(mut self, cancelled: CancellationToken) -> Self {
        self.cancelled = cancelled;
        self
    }

    /// Sets the assistant that answers requests of the tool to a model.
    #[must_use]
    pub fn with_assistant(mut self, assistant: impl Assistant + 'static) -> Self {
        self.assistant = Some(Arc::new(assistant));
        self
    }

    /// Sets a callback for the progress of the call, in addition to the observers. An agent that
    /// waits for the call can use it.
    ///
    /// The callback runs on the thread of the tool and blocks it.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use autonoe_core::time::SessionKey;
    /// use autonoe_core::{RunId, ToolContext};
    ///
    /// let titles: Arc<Mutex<Vec<String>>> = Arc::default();
    /// let sink = titles.clone();
    /// let session = SessionKey { run: RunId::new("run"), number: 1 };
    /// let context = ToolContext::new(session).with_progress_listener(move |title, _| {
    ///     sink.lock().unwrap().push(title.to_owned());
    /// });
    ///
    /// context.progress("Looking");
    ///
    /// assert_eq!(*titles.lock().unwrap(), ["Looking"]);
    /// ```
    #[must_use]
    pub fn with_progress_listener(
        mut self,
        listener: impl Fn(&str, &Map<String, Value>) + Send + Sync + 'static,
    ) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Returns the handle that emits events in the span of the call.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Reports the current activity of the tool in a few words. Cheap enough to call often.
    pub fn progress(&self, title: &str) {
        self.progress_with(title, &Map::new());
    }

    /// Reports the current activity of the tool, with details in the tool's own format.
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

/// Answers requests of tools to a model.
///
/// A backend that can query a model passes an assistant to the tools with
/// [`ToolContext::with_assistant`]. The request of a tool then never reaches the agent.
///
/// Implementations must count the answer towards the budget of the session. If there is no answer,
/// they must return an error, never an empty answer.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::tool::{AssistRequest, Assistant};
/// use autonoe_core::{ToolContext, ToolError};
///
/// struct Echo;
///
/// #[async_trait]
/// impl Assistant for Echo {
///     async fn assist(&self, request: &AssistRequest, _: &ToolContext) -> Result<String, ToolError> {
///         Ok(request.prompt.clone())
///     }
/// }
/// ```
#[async_trait]
pub trait Assistant: Send + Sync {
    /// Queries the model. `context` is the context of the call that needs the answer.
    async fn assist(
        &self,
        request: &AssistRequest,
        context: &ToolContext,
    ) -> Result<String, ToolError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<A: Assistant + ?Sized> Assistant for Arc<A> {
    async fn assist(
        &self,
        request: &AssistRequest,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        (**self).assist(request, context).await
    }
}

impl fmt::Debug for dyn Assistant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Assistant")
    }
}

/// Message about a running operation, shown until the note is dropped. See [`Events::progress`].
#[derive(Debug)]
#[must_use = "dropping a note hides it"]
pub struct ProgressNote {
    events: Events,
}

impl Events {
    /// Emits a progress message that is shown until the returned note is dropped.
    ///
    /// ```
    /// use autonoe_core::event::Events;
    ///
    /// let events = Events::silent(); // a backend has `SessionSpec::events`
    ///
    /// let note = events.progress("compacting the conversation");
    /// // .. it takes a while ..
    /// drop(note);
    /// ```
    pub fn progress(&self, message: &str) -> ProgressNote {
        self.emit(RunEventKind::ProgressStarted { message });
        let events = self.clone();
        ProgressNote { events }
    }
}

impl Drop for ProgressNote {
    fn drop(&mut self) {
        self.events.emit(RunEventKind::ProgressEnded);
    }
}
