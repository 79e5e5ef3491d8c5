//! [`ModelClient`]: interface to one model of one provider, and the [`ModelRequest`] that it receives.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::tool::ToolDefinition;
use futures::{StreamExt, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallUsage, Message, Meter, ModelError, ModelEvent, ModelReply, ModelStream};

/// Calls one model of one provider.
///
/// An implementation must guarantee:
/// - a stream that ends with exactly one [`Done`](super::ModelEvent::Done) or one `Err`, and
///   nothing after either: an incomplete answer is an error and never a short answer;
/// - no panic, whatever the provider sends;
/// - no retries and no delays of its own: [`Retrying`](crate::retry::Retrying) does both;
/// - that dropping the stream or the future ends the call;
/// - usage as reported by the provider: unreported usage is unknown
///   ([`CallUsage`](super::CallUsage)) and never zero;
/// - no key in any error, event or log.
///
/// Callers may run several calls concurrently.
///
/// Minimal implementation for a test:
///
/// ```
/// use autonoe_model::contract::{AssistantMessage, ModelIdentity};
/// use autonoe_model::{ModelClient, ModelEvent, ModelReply, ModelRequest, ModelStream};
/// use futures::{StreamExt, stream};
///
/// struct SaysYes(ModelIdentity);
///
/// impl ModelClient for SaysYes {
///     fn identity(&self) -> &ModelIdentity {
///         &self.0
///     }
///
///     fn stream(&self, _: &ModelRequest) -> ModelStream {
///         let reply = ModelReply::new(AssistantMessage::text("Yes."));
///         stream::iter([Ok(ModelEvent::Done(Box::new(reply)))]).boxed()
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let model = SaysYes(ModelIdentity::new("docs", "yes"));
/// let reply = model.invoke(&ModelRequest::prompt("Is it so?")).await?;
/// assert_eq!(reply.message.to_text(), "Yes.");
/// # Ok::<(), autonoe_model::ModelError>(())
/// # }).expect("it answers");
/// ```
#[async_trait]
pub trait ModelClient: Send + Sync {
    /// Returns the identity of the model.
    fn identity(&self) -> &ModelIdentity;

    /// Calls the model and streams its answer. Nothing is sent before the stream is polled.
    fn stream(&self, request: &ModelRequest) -> ModelStream;

    /// Calls the model and waits for the complete answer.
    ///
    /// # Errors
    ///
    /// The call failed, or the answer is incomplete.
    async fn invoke(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        collect(self.stream(request)).await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<M: ModelClient + ?Sized> ModelClient for Arc<M> {
    fn identity(&self) -> &ModelIdentity {
        (**self).identity()
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        (**self).stream(request)
    }

    async fn invoke(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        (**self).invoke(request).await
    }
}

impl fmt::Debug for dyn ModelClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model {}", self.identity())
    }
}

/// Model of a provider: `anthropic/claude-sonnet-5`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct ModelIdentity {
    /// Name of the provider in the configuration.
    pub provider: String,
    /// Provider's name of the model.
    pub model: String,
}

impl ModelIdentity {
    /// Creates the identity of a model.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
        }
    }
}

impl fmt::Display for ModelIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// Creates a model from a closure, for tests of tools and hooks.
///
/// ```
/// use autonoe_model::contract::AssistantMessage;
/// use autonoe_model::{ModelClient, ModelReply, ModelRequest, model_fn};
///
/// # futures::executor::block_on(async {
/// let echo = model_fn("docs/echo", |request| {
///     let text = format!("{} messages", request.messages.len());
///     Ok(ModelReply::new(AssistantMessage::text(text)))
/// });
///
/// let reply = echo.invoke(&ModelRequest::prompt("Hello.")).await.expect("it answers");
/// assert_eq!(reply.message.to_text(), "1 messages");
/// # });
/// ```
pub fn model_fn(
    identity: &str,
    answer: impl Fn(&ModelRequest) -> Result<ModelReply, ModelError> + Send + Sync + 'static,
) -> Arc<dyn ModelClient> {
    let (provider, model) = identity.split_once('/').unwrap_or(("closure", identity));
    Arc::new(ModelFn {
        identity: ModelIdentity::new(provider, model),
        answer: Arc::new(answer),
    })
}

struct ModelFn<F> {
    identity: ModelIdentity,
    answer: Arc<F>,
}

impl<F> ModelClient for ModelFn<F>
where
    F: Fn(&ModelRequest) -> Result<ModelReply, ModelError> + Send + Sync + 'static,
{
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        let (answer, request) = (self.answer.clone(), request.clone());
        stream::once(async move {
            let reply = answer(&request)?;
            Ok(ModelEvent::Done(Box::new(reply)))
        })
        .boxed()
    }
}

/// Request to a model: a conversation, tools and limits.
///
/// ```
/// use autonoe_model::{Message, ModelRequest};
///
/// let request = ModelRequest::prompt("Add the two numbers.")
///     .with_system("You are terse.".to_owned())
///     .with_message(Message::user("1 and 2"));
///
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// System prompt.
    pub system: Option<String>,
    /// Complete conversation, from its beginning.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may, must or must not call a tool.
    pub tool_choice: ToolChoice,
    /// Maximum length of the answer in tokens; `None` leaves it to the provider's client.
    pub max_output_tokens: Option<u32>,
    /// Thinking budget; `None` leaves it to the model.
    pub thinking: Option<ThinkingBudget>,
}

impl ModelRequest {
    /// Creates a request with a conversation.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            system: None,
            messages: messages.into_iter().collect(),
            tools: Vec::new(),
            tool_choice: ToolChoice::default(),
            max_output_tokens: None,
            thinking: None,
        }
    }

    /// Creates a request with one user message.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self::new([Message::user(text)])
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<Option<String>>) -> Self {
        self.system = text.into();
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Sets whether the model may, must or must not call a tool.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Sets the maximum length of the answer in tokens.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the thinking budget.
    #[must_use]
    pub fn with_thinking(mut self, budget: impl Into<Option<ThinkingBudget>>) -> Self {
        self.thinking = budget.into();
        self
    }
}

/// Whether a model may call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// The model may call tools.
    #[default]
    Auto,
    /// The model must call at least one.
    Required,
    /// The model must not call tools. They are only sent because earlier calls refer to them.
    None,
}

/// Waits for the complete answer. A stream that ends without one is an error.
pub(super) async fn collect(mut stream: ModelStream) -> Result<ModelReply, ModelError> {
    // Usage of failed attempts.
    let mut used = CallUsage::NOTHING;
    let mut meter = Meter::default();
    let error = loop {
        match stream.next().await {
            Some(Ok(ModelEvent::Done(mut reply))) => {
                reply.usage += used;
                return Ok(*reply);
            }
            Some(Ok(ModelEvent::Retrying { error, .. })) => {
                used += meter.failed(&error);
                meter = Meter::default();
            }
            Some(Ok(event)) => meter.on_event(&event),
            Some(Err(error)) => break error,
            None => break ModelError::ended_early(),
        }
    };
    let usage = meter.failed(&error) + used;
    Err(ModelError { usage, ..error })
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::TokenUsage;
    use futures::{FutureExt, stream};

    use super::*;
    use crate::contract::{AssistantMessage, ModelErrorCode};

    // Shows: framework/models/model-response-success-or-error
    // Shows: framework/models/is-model-success-is-model
    // Shows: framework/models/response-json
    #[test]
    fn an_answer_without_an_end_is_no_answer() {
        let cut = stream::iter([Ok(ModelEvent::Text("All".into()))]).boxed();

        let error = collect(cut)
            .now_or_never()
            .expect("it is there")
            .expect_err("it is cut");

        assert_eq!(error.code, ModelErrorCode::InvalidResponse);
    }

    // Shows: framework/models/model-response-success-or-error
    // Shows: framework/models/is-model-success-is-model
    #[test]
    fn reply_is_that_of_the_done_event() {
        let whole = ModelReply::new(AssistantMessage::text("All is well."));
        let events = [
            Ok(ModelEvent::Text("All".into())),
            Ok(ModelEvent::Done(Box::new(whole.clone()))),
        ];

        let reply = collect(stream::iter(events).boxed()).now_or_never();

        assert_eq!(reply.expect("it is there").expect("whole"), whole);
    }

    #[test]
    fn usage_includes_failed_tries() {
        let tokens = |input| TokenUsage {
            input,
            ..TokenUsage::default()
        };
        let retrying = ModelEvent::Retrying {
            error: ModelError::new(ModelErrorCode::Timeout, "slow").with_usage(tokens(3)),
            attempt: 2,
            delay: std::time::Duration::from_secs(1),
        };
        let whole = ModelReply::new(AssistantMessage::text("x")).with_usage(tokens(4));
        let events = [Ok(retrying), Ok(ModelEvent::Done(Box::new(whole)))];

        let reply = collect(stream::iter(events).boxed()).now_or_never();

        let usage = reply.expect("it is there").expect("whole").usage;
        assert_eq!(usage, CallUsage::AtLeast(tokens(7)));
    }
}
