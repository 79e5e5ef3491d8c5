//! [`ModelClient`]: interface to one model of one provider.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collect::collect;
use super::{ModelError, ModelEvent, ModelReply, ModelRequest, ModelStream};

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
