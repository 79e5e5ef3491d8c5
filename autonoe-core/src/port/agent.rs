//! How a run talks to an agent.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;

use super::{AgentError, AgentErrorKind, Capabilities, SessionSpec, Support};
use crate::domain::StreamEvent;

/// What an agent says and does while it works on one prompt.
pub type MessageStream<'a> = BoxStream<'a, Result<StreamEvent, AgentError>>;

/// One conversation with an agent: one session of a run, one fresh client.
///
/// An implementer owes:
/// - a stream that starts with [`StreamEvent::Started`] and ends with
///   [`StreamEvent::End`], or with one `Err`; nothing after either;
/// - every tool call put to the session's [`Gate`](super::Gate) once, before it
///   runs, under the id that the stream gives it; not run when that denies it,
///   and the reason told to the agent;
/// - one [`StreamEvent::ToolResponse`] for each [`StreamEvent::ToolInvocation`];
/// - our tools called only through the session's [`Toolbox`](super::Toolbox);
/// - progress of gate and tools whether or not the stream is polled;
/// - an end of everything it started when the stream, the client or the
///   `dispose` future is dropped.
///
/// A caller may assume that turns cannot overlap and that nothing can be asked
/// after `dispose`: neither compiles.
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
/// Check yours with `autonoe_testkit::conformance::agent_client`. The smallest one:
///
/// ```
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use autonoe_core::{
///     AgentClient, AgentError, AgentSessionId, MessageStream, NoControl, Prompt, SessionControl,
///     SessionOutcome, StreamEvent,
/// };
/// use futures::{StreamExt, stream};
///
/// /// Says back what it is told.
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
    /// Sends `prompt` and returns what comes back. Dropping the stream stops the turn.
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_>;

    /// Returns a handle that works while a stream is open. Take it before the
    /// query, which borrows the client as long as its stream lives.
    fn control(&self) -> Arc<dyn SessionControl>;

    /// Releases everything. Called once, also after an error or a cancellation.
    async fn dispose(self: Box<Self>) -> Result<(), AgentError>;
}

/// Makes a fresh client for each session.
///
/// An implementer owes that clients are independent of each other: several may
/// live at once. `create` does not wait: what takes time, such as starting a
/// process, happens in the first `query` and fails there.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::{
///     AgentClient, AgentClientFactory, AgentError, AgentErrorKind, Capabilities, HookCoverage,
///     SessionSpec,
/// };
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
    /// Looks: is it there, which version, what can it enforce.
    async fn probe(&self) -> Result<Capabilities, AgentError>;

    /// Says whether sessions on `model` report what they cost, where that depends on the model.
    /// It does not wait. `None`, which is the default, leaves it at the
    /// [`Capabilities::cost`] of the backend.
    ///
    /// A run that limits money asks about each model that it names, and does not start on one
    /// that costs an unknown amount. Whoever wraps another backend asks it.
    fn cost_of(&self, model: &str) -> Option<Support> {
        let _ = model;
        None
    }

    /// Makes a client for one session.
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

/// Reaches a session while its stream is open.
///
/// An implementer owes that both methods may be called from other tasks, at
/// any time, also after the session ended (then they do nothing or fail).
///
/// ```
/// use autonoe_core::{NoControl, SessionControl};
///
/// # futures::executor::block_on(async {
/// assert!(NoControl.steer("hurry up").await.is_err());
/// # });
/// ```
#[async_trait]
pub trait SessionControl: Send + Sync {
    /// Asks the agent to stop its turn; the stream then ends with `Interrupted`.
    /// A backend that cannot do it fails with [`AgentErrorKind::Unsupported`].
    async fn interrupt(&self) -> Result<(), AgentError>;

    /// Tells the agent something in the middle of its turn. `Ok` means it was delivered.
    async fn steer(&self, text: &str) -> Result<(), AgentError>;

    /// Takes what was delivered and never came to the agent's ears, because its turn ended before:
    /// by a limit, a failure or an interruption. A run tells it to the next session.
    ///
    /// While a turn is under way there is nothing to take. A backend that cannot know returns
    /// nothing.
    fn unheard(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The control of a backend that has none: both methods fail.
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

/// What an agent is told at the start of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The text.
    pub text: String,
}

impl Prompt {
    /// Makes a prompt of `text`.
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
