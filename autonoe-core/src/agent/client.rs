//! [`AgentClient`] and [`AgentClientFactory`], the traits that a backend implements.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;

use crate::agent::StreamEvent;
use crate::agent::{AgentError, AgentErrorKind, Capabilities, SessionSpec, Support};

/// Stream of the events of an agent for one prompt.
pub type MessageStream<'a> = BoxStream<'a, Result<StreamEvent, AgentError>>;

/// One conversation with an agent. Each session of a run gets a fresh client.
///
/// Requirements for implementations:
/// - The stream starts with [`StreamEvent::Started`] and ends with [`StreamEvent::End`] or with one
///   `Err`; nothing follows either.
/// - Every tool call is submitted to the session's [`Gate`](crate::gate::Gate) exactly once, before
///   it runs, under the id that the stream gives it. A denied call does not run, and the agent
///   receives the reason.
/// - Each [`StreamEvent::ToolInvocation`] has one [`StreamEvent::ToolResponse`].
/// - Autonoe's tools are called only through the session's [`Toolbox`](crate::tool::Toolbox).
/// - The gate and the tools make progress whether or not the stream is polled.
/// - Dropping the stream, the client or the `dispose` future stops everything that it started.
///
/// The type system guarantees that turns do not overlap and that no query follows `dispose`:
/// neither of these compiles.
///
/// ```compile_fail,E0499
/// # use autonoe_core::AgentClient;
/// fn two_turns_at_once(client: &mut dyn AgentClient) {
///     let first = client.query("one".into());
///     let second = client.query("two".into());
///     drop((first, second));
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use autonoe_core::AgentClient;
/// async fn after_the_end(mut client: Box<dyn AgentClient>) {
///     let _ = client.dispose().await;
///     let _ = client.query("more".into());
/// }
/// ```
///
/// Test an implementation with `autonoe_testkit::conformance::agent_client`. The smallest one:
///
/// ```
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use autonoe_core::agent::{NoControl, Prompt, SessionControl, SessionOutcome};
/// use autonoe_core::time::AgentSessionId;
/// use autonoe_core::{AgentClient, AgentError, MessageStream, StreamEvent};
/// use futures::{StreamExt, stream};
///
/// /// Echoes the prompt.
/// struct Parrot;
///
/// #[async_trait]
/// impl AgentClient for Parrot {
///     fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
///         stream::iter([
///             Ok(StreamEvent::started(AgentSessionId::new("parrot"), None)),
///             Ok(StreamEvent::text(prompt.text)),
///             Ok(StreamEvent::end(SessionOutcome::Completed, None)),
///         ])
///         .boxed()
///     }
///
///     fn control(&self) -> Arc<dyn SessionControl> {
///         Arc::new(NoControl)
///     }
///
///     async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait AgentClient: Send {
    /// Sends `prompt` and returns the stream of events. Dropping the stream stops the turn.
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_>;

    /// Returns a handle that works while a stream is open. Get it before the query, because a
    /// stream borrows the client.
    fn control(&self) -> Arc<dyn SessionControl>;

    /// Releases all resources. Called once, also after an error or a cancellation.
    async fn dispose(self: Box<Self>) -> Result<(), AgentError>;
}

/// Creates a fresh client for each session.
///
/// Clients must be independent of each other: several may exist at the same time. `create` does not
/// wait. Slow operations, such as starting a process, happen in the first `query` and fail there.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::agent::{AgentErrorKind, HookCoverage};
/// use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
///
/// struct NotInstalled;
///
/// #[async_trait]
/// impl AgentClientFactory for NotInstalled {
///     async fn probe(&self) -> Result<Capabilities, AgentError> {
///         Ok(Capabilities::new("nobody").with_hooks(HookCoverage::EveryTool))
///     }
///
///     fn create(&self, _spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
///         Err(AgentError::new(AgentErrorKind::NotAvailable, "there is no agent here"))
///     }
/// }
/// ```
#[async_trait]
pub trait AgentClientFactory: Send + Sync {
    /// Inspects the backend: its availability, version and enforceable features.
    async fn probe(&self) -> Result<Capabilities, AgentError>;

    /// Returns whether sessions on `model` report their cost, if that depends on the model. Does
    /// not wait. `None`, the default, falls back to the [`Capabilities::cost`] of the backend.
    ///
    /// A run with a cost limit queries each model that it names, and does not start on a model with
    /// unknown cost. A factory that wraps another one must delegate this method.
    fn cost_of(&self, model: &str) -> Option<Support> {
        let _ = model;
        None
    }

    /// Creates a client for one session.
    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<A: AgentClientFactory + ?Sized> AgentClientFactory for Arc<A> {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        (**self).probe().await
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        (**self).cost_of(model)
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        (**self).create(spec)
    }
}

/// Controls a session while its stream is open.
///
/// All methods may be called from other tasks at any time, also after the session ended. In that
/// case they do nothing or fail.
///
/// ```
/// use autonoe_core::agent::{NoControl, SessionControl};
///
/// # futures::executor::block_on(async {
/// assert!(NoControl.steer("hurry up").await.is_err());
/// # });
/// ```
#[async_trait]
pub trait SessionControl: Send + Sync {
    /// Requests the agent to stop its turn; the stream then ends with `Interrupted`. A backend
    /// without support returns [`AgentErrorKind::Unsupported`].
    async fn interrupt(&self) -> Result<(), AgentError>;

    /// Sends the agent a message in the middle of its turn. `Ok` means that it was delivered.
    async fn steer(&self, text: &str) -> Result<(), AgentError>;

    /// Removes and returns delivered messages that the agent never read, because its turn ended
    /// before: by a limit, a failure or an interruption. A run passes them to the next session.
    ///
    /// Returns nothing while a turn is running, or if the backend cannot know.
    fn take_unread(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Control of a backend that supports none: `interrupt` and `steer` fail.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoControl;

#[async_trait]
impl SessionControl for NoControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        Err(AgentError::new(
            AgentErrorKind::Unsupported,
            "this backend cannot interrupt a turn",
        ))
    }

    async fn steer(&self, _text: &str) -> Result<(), AgentError> {
        Err(AgentError::new(
            AgentErrorKind::Unsupported,
            "this backend cannot steer a turn",
        ))
    }
}

/// Input of an agent at the start of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The text.
    pub text: String,
}

impl Prompt {
    /// Creates a prompt from `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for dyn AgentClientFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentClientFactory")
    }
}

impl fmt::Debug for dyn AgentClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentClient")
    }
}
