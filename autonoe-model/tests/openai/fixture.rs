//! Test fixture: a scripted server, and a model that calls it.

use std::sync::Arc;

use autonoe_model::provider::{ProviderContext, provider_spec};
use autonoe_model::{ModelClient, ModelError, ModelEvent, ModelReply, ModelRequest};
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{MainRequests, ModelScript, Turn};
use futures::StreamExt;
use serde_json::{Value, json};

/// Key that no error may contain.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Starts a server that answers every request with the next of these turns.
pub(crate) fn server<T: Into<Turn>>(turns: impl IntoIterator<Item = T>) -> OpenAiServer {
    OpenAiServer::start(ModelScript::new(turns).with_main_requests(MainRequests::All))
}

/// The two protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Responses,
    Chat,
}

impl Api {
    pub(crate) const BOTH: [Self; 2] = [Self::Responses, Self::Chat];

    /// Returns a model of `server` over this protocol.
    pub(crate) fn model(self, server: &OpenAiServer) -> Arc<dyn ModelClient> {
        self.model_with(server, &json!({}))
    }

    /// Like [`model`](Self::model), with additional fields of the configuration.
    pub(crate) fn model_with(self, server: &OpenAiServer, fields: &Value) -> Arc<dyn ModelClient> {
        let tag = match self {
            Self::Responses => "openai",
            Self::Chat => "openai-compatible",
        };
        let mut spec = json!({"type": tag, "key": {"env": "THE_KEY"}, "baseUrl": server.api_url()});
        for (name, value) in fields.as_object().expect("fields") {
            spec[name] = value.clone();
        }
        let context =
            ProviderContext::new("scripted").with_environment([("THE_KEY".into(), KEY.into())]);
        let provider = provider_spec(&spec).and_then(|spec| spec.build(&context));
        let model = provider.and_then(|provider| provider.model("gpt-5"));
        model.expect("the configuration is sound")
    }
}

/// Calls the model, and returns the events before the end, and the end.
pub(crate) async fn call(
    model: &dyn ModelClient,
    request: &ModelRequest,
) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    let mut stream = model.stream(request);
    let mut news = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Done(reply)) => {
                assert!(
                    stream.next().await.is_none(),
                    "something came after the end"
                );
                return (news, Ok(*reply));
            }
            // These events depend on how the bytes are chunked.
            Ok(ModelEvent::Heartbeat) => {}
            Ok(event) => news.push(event),
            Err(error) => {
                assert!(
                    stream.next().await.is_none(),
                    "something came after the error"
                );
                assert!(!format!("{error:?}").contains(KEY), "{error:?}");
                return (news, Err(error));
            }
        }
    }
    panic!("the stream ended without an end")
}

/// Returns the streamed text.
pub(crate) fn streamed(news: &[ModelEvent]) -> String {
    let texts = news.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
