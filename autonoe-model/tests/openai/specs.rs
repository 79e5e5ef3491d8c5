//! Tests of configurations.

use autonoe_core::spec::registered_specs;
use autonoe_model::provider::{PROVIDER_PORT, ProviderContext, provider_spec};
use autonoe_model::{ModelErrorCode, ModelRequest};
use autonoe_testkit::model_server::Turn;
use serde_json::json;

use crate::openai::fixture::{Api, server};

#[test]
fn the_example_of_each_survives_a_json_round_trip() {
    for tag in ["openai", "openai-compatible"] {
        let specs = registered_specs(PROVIDER_PORT);
        let spec = specs
            .iter()
            .find(|spec| spec.tag == tag)
            .expect("it is registered");
        let example = (spec.example)();

        let read = provider_spec(&example).expect("it can be read");

        let written = serde_json::to_value(&*read).expect("it can be written");
        for (name, value) in example.as_object().expect("fields") {
            assert_eq!(&written[name], value, "{tag}");
        }
    }
}

#[test]
fn invalid_spec_is_refused() {
    let table = [
        json!({"type": "openai", "model": "gpt-5"}),
        json!({"type": "openai", "reasoningSummary": "long"}),
        json!({"type": "openai-compatible"}),
        json!({"type": "openai-compatible", "baseUrl": "localhost"}),
        json!({"type": "openai-compatible", "baseUrl": "http://a", "dialect": "klingon"}),
        json!({"type": "openai-compatible", "baseUrl": "http://a", "changes": {"stream": "ask"}}),
    ];

    for spec in table {
        let error = provider_spec(&spec).expect_err("it makes no sense");
        assert_eq!(error.code, ModelErrorCode::ProviderNotConfigured, "{spec}");
    }
}

#[test]
fn openai_wants_a_key_and_a_service_at_home_wants_none() {
    let context = ProviderContext::new("p");
    let build = |spec| provider_spec(&spec).and_then(|spec| spec.build(&context));

    let error = build(json!({"type": "openai"})).expect_err("there is no key");
    assert_eq!(error.code, ModelErrorCode::ProviderNotConfigured);
    assert!(error.message.contains("OPENAI_API_KEY"), "{error}");
    let local = json!({"type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1"});
    build(local).expect("it wants none");
}

#[tokio::test]
async fn a_dialect_its_changes_and_headers_reach_the_service() {
    let server = server([Turn::text("Yes.")]);
    let model = Api::Chat.model_with(
        &server,
        &json!({
            "dialect": "openrouter",
            "changes": {"limit": "max_completion_tokens"},
            "headers": {"x-title": "Autonoe"},
        }),
    );
    let request = ModelRequest::prompt("?")
        .with_max_output_tokens(100)
        .with_thinking(autonoe_core::agent::ThinkingBudget::default());

    model.invoke(&request).await.expect("it answers");

    let request = &server.log().main_requests()[0].raw;
    assert_eq!(request["reasoning"], json!({"max_tokens": 8_192}));
    assert_eq!(request["max_completion_tokens"], 100);
    assert_eq!(request.get("stream_options"), None);
    let exchange = &server.log().exchanges()[0];
    assert_eq!(exchange.headers.get("x-title"), Some("Autonoe"));
    assert!(exchange.path.ends_with("/v1/chat/completions"));
}
