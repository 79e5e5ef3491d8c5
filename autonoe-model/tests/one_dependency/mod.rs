//! Plugin of a user who depends on this crate alone: all types are reachable through it.

use std::sync::Arc;

use autonoe_model::autonoe_core::futures::{StreamExt, executor, stream};
use autonoe_model::autonoe_core::schemars::JsonSchema;
use autonoe_model::autonoe_core::serde::{Deserialize, Serialize};
use autonoe_model::autonoe_core::serde_json::json;
use autonoe_model::autonoe_core::{AgentClientFactory, typetag};
use autonoe_model::autonoe_process::Network;
use autonoe_model::contract::{AssistantMessage, ModelIdentity};
use autonoe_model::provider::ProviderContext;
use autonoe_model::{
    BuiltInOptions, ModelAgentOptions, ModelBackend, ModelClient, ModelError, ModelEvent,
    ModelReply, ModelRequest, ModelSpec, ModelStream, Provider, ProviderSpec,
};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(crate = "autonoe_model::autonoe_core::serde", deny_unknown_fields)]
#[schemars(crate = "autonoe_model::autonoe_core::schemars")]
struct Yes {}

#[typetag::serde(name = "test-yes")]
impl ProviderSpec for Yes {
    fn build(&self, _: &ProviderContext) -> Result<Arc<dyn Provider>, ModelError> {
        Ok(Arc::new(AlwaysYes(ModelIdentity::new("yes", "yes"))))
    }
}

#[derive(Clone)]
struct AlwaysYes(ModelIdentity);

impl Provider for AlwaysYes {
    fn name(&self) -> &str {
        "yes"
    }

    fn model(&self, _: &str) -> Result<Arc<dyn ModelClient>, ModelError> {
        Ok(Arc::new(self.clone()))
    }
}

impl ModelClient for AlwaysYes {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn stream(&self, _: &ModelRequest) -> ModelStream {
        let reply = ModelReply::new(AssistantMessage::text("Yes."));
        stream::iter([Ok(ModelEvent::Done(Box::new(reply)))]).boxed()
    }
}

#[test]
fn every_type_of_a_plugin_is_named_through_model() {
    let provider: Arc<dyn ProviderSpec> = Arc::new(Yes {});
    let by_value = ModelSpec::new(provider, "yes");
    let boxed = autonoe_model::provider::provider_spec(&json!({"type": "test-yes"}));
    let boxed = ModelSpec::new(boxed.expect("it is known"), "yes");
    let shared = ModelSpec::new(by_value.provider.clone(), "yes");
    for backend in [&by_value, &boxed, &shared] {
        assert_eq!(backend.provider_name(), "test-yes");
    }

    let provider = by_value
        .provider
        .build(&ProviderContext::new("yes"))
        .expect("it builds");
    let model = provider.model("any").expect("there is one");
    let reply = executor::block_on(model.invoke(&ModelRequest::prompt("Is it so?")));
    assert_eq!(reply.expect("it answers").message.to_text(), "Yes.");

    let _offline = BuiltInOptions {
        network: Network::Off,
        ..BuiltInOptions::default()
    };
    let agents: Arc<dyn AgentClientFactory> =
        Arc::new(ModelBackend::new(ModelAgentOptions::new(provider, " ")));
    let error = executor::block_on(agents.probe()).expect_err("the model is blank");
    assert!(error.to_string().starts_with(".model: "), "{error}");
}
