//! Helpers shared by the tests of providers.

use std::sync::Arc;

use autonoe_core::agent::TokenUsage;
use autonoe_model::provider::{ProviderContext, provider_spec};
use autonoe_model::{
    ModelClient, ModelError, ModelEvent, ModelReply, ModelRequest, RetryPolicy, Retrying,
};
use futures::StreamExt;
use serde_json::{Value, json};

/// Key that must not leak.
pub(crate) const KEY: &str = "sk-very-secret-123";

/// Builds a model of a provider at `url`; `more` is added to its spec.
pub(crate) fn model(kind: &str, url: &str, more: &Value) -> Arc<dyn ModelClient> {
    let mut spec = json!({"type": kind, "baseUrl": url, "key": {"value": KEY}});
    let (Some(spec_fields), Some(more)) = (spec.as_object_mut(), more.as_object()) else {
        panic!("no object: {more}");
    };
    spec_fields.extend(more.clone());
    let spec = provider_spec(&spec).expect("a spec");
    let provider = spec.build(&ProviderContext::new(kind)).expect("it builds");
    provider.model("model-x").expect("a model")
}

pub(crate) fn anthropic(url: &str) -> Arc<dyn ModelClient> {
    model("anthropic", url, &json!({}))
}

/// Calls the model, and returns the events and the end. Nothing may follow it.
pub(crate) async fn call(
    model: &Arc<dyn ModelClient>,
    request: &ModelRequest,
) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    let mut stream = model.stream(request);
    let mut events = Vec::new();
    let end = loop {
        match stream.next().await.expect("a stream has an end of its own") {
            Ok(ModelEvent::Done(reply)) => break Ok(*reply),
            // These events depend on how the bytes are chunked.
            Ok(ModelEvent::Heartbeat) => {}
            Ok(event) => events.push(event),
            Err(error) => break Err(error),
        }
    };
    assert!(
        stream.next().await.is_none(),
        "there is nothing after the end"
    );
    assert!(stream.next().await.is_none(), "and it stays so");
    if let Err(error) = &end {
        assert!(!format!("{error:?} {error}").contains(KEY), "{error:?}");
    }
    (events, end)
}

/// Returns the event for this usage, with nothing cached.
pub(crate) fn used(input: u64, output: u64) -> ModelEvent {
    ModelEvent::Usage(TokenUsage {
        input,
        output,
        ..TokenUsage::default()
    })
}

/// Calls the model, and returns the error.
pub(crate) async fn failure(model: &Arc<dyn ModelClient>) -> ModelError {
    let (_, end) = call(model, &ModelRequest::prompt("Hello.")).await;
    end.expect_err("it fails")
}

/// Wraps a model with one immediate retry after temporary failures.
pub(crate) fn tried_twice(model: Arc<dyn ModelClient>) -> Arc<dyn ModelClient> {
    let policy = RetryPolicy {
        tries: 2,
        base_ms: 0,
        ..RetryPolicy::default()
    };
    Arc::new(Retrying::new(model, policy))
}
