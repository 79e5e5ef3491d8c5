//! A model that is a closure.

use std::sync::Arc;

use futures::{StreamExt, stream};

use super::{
    ModelClient, ModelError, ModelEvent, ModelIdentity, ModelReply, ModelRequest, ModelStream,
};

/// Makes a model of a closure: the smallest one, for tests of tools and hooks.
///
/// ```
/// use autonoe_model::{AssistantMessage, ModelClient, ModelReply, ModelRequest, model_fn};
///
/// # futures::executor::block_on(async {
/// let echo = model_fn("docs/echo", |request| {
///     let said = format!("{} messages", request.messages.len());
///     Ok(ModelReply::new(AssistantMessage::text(said)))
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
