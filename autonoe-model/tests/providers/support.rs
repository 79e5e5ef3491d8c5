//! What the tests of providers share.

use std::sync::Arc;

use autonoe_core::TokenUsage;
use autonoe_model::{
    ModelClient, ModelError, ModelEvent, ModelReply, ModelRequest, ProviderContext, RetryPolicy,
    Retrying, provider_spec,
};
use futures::StreamExt;
use serde_json::{Value, json};

/// The key that must not be seen anywhere.
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

/// Asks, and returns what came on the way and at the end. Nothing may come after it.
pub(crate) async fn ask(
    model: &Arc<dyn ModelClient>,
    request: &ModelRequest,
) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    let mut stream = model.stream(request);
    let mut events = Vec::new();
    let end = loop {
        match stream.next().await.expect("a stream has an end of its own") {
            Ok(ModelEvent::Done(reply)) => break Ok(*reply),
            // How the bytes came together is not the same each time.
            Ok(ModelEvent::Alive) => {}
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

/// Tells that so many tokens were used, with nothing cached.
pub(crate) fn used(input: u64, output: u64) -> ModelEvent {
    ModelEvent::Used(TokenUsage {
        input,
        output,
        ..TokenUsage::default()
    })
}

/// Asks something, and returns the error.
pub(crate) async fn failure(model: &Arc<dyn ModelClient>) -> ModelError {
    let (_, end) = ask(model, &ModelRequest::prompt("Hello.")).await;
    end.expect_err("it fails")
}

/// The same model, asked once more at once if it fails in a way that may pass.
pub(crate) fn tried_twice(model: Arc<dyn ModelClient>) -> Arc<dyn ModelClient> {
    let policy = RetryPolicy {
        tries: 2,
        base_ms: 0,
        ..RetryPolicy::default()
    };
    Arc::new(Retrying::new(model, policy))
}
