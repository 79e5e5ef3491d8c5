//! Tests of provider configurations.

use autonoe_core::spec::registered_specs;
use autonoe_model::ModelErrorCode::{ModelNotFound, ProviderNotConfigured, ProviderNotSupported};
use autonoe_model::ProviderSpec;
use autonoe_model::provider::{PROVIDER_PORT, ProviderContext, provider_spec};
use serde_json::{Value, json};

use crate::providers::support::KEY;

// Shows: framework/models/provider-factory
#[test]
fn every_registered_example_is_a_spec_that_survives_being_written_down() {
    let specs = registered_specs(PROVIDER_PORT);
    let tags: Vec<_> = specs.iter().map(|spec| spec.tag).collect();
    assert!(
        tags.contains(&"anthropic") && tags.contains(&"google"),
        "{tags:?}"
    );
    assert!(tags.windows(2).all(|pair| pair[0] != pair[1]), "{tags:?}");

    for entry in specs {
        let spec = provider_spec(&(entry.example)()).expect(entry.tag);
        assert_eq!(spec.typetag_name(), entry.tag);

        let written = serde_json::to_value(&spec).expect("it can be written");
        let loaded = provider_spec(&written).expect("it can be read");
        assert_eq!(
            serde_json::to_value(&loaded).expect("it can be written"),
            written
        );
        let schema = (entry.schema)().to_value();
        assert_eq!(schema["type"], "object", "{}", entry.tag);
    }
}

#[test]
fn the_schemas_of_core_have_the_providers_of_this_crate() {
    let schemas = autonoe_core::schemas();

    let schema = &schemas["provider.anthropic"];
    assert_eq!(schema["properties"]["type"], json!({"const": "anthropic"}));
    assert!(schema["properties"]["key"].is_object(), "{schema}");
}

#[test]
fn schema_contains_every_key_source() {
    let schemas = autonoe_core::schemas();
    let schema = &schemas["provider.google"]["$defs"]["KeySource"];

    let text = schema.to_string();
    for word in ["env", "file", "value", "none"] {
        assert!(
            text.contains(&format!("\"{word}\"")),
            "{word} is not in {text}"
        );
    }
}

// Shows: framework/models/provider-factory
#[test]
fn an_unknown_provider_lists_the_known_ones() {
    for unknown in [
        json!({"type": "antropic"}),
        json!({"key": "none"}),
        json!(7),
    ] {
        let error = provider_spec(&unknown).expect_err("there is none");

        assert_eq!(error.code, ProviderNotSupported, "{unknown}");
        assert!(error.message.contains("anthropic, "), "{error}");
        assert!(error.message.contains("google"), "{error}");
    }
}

#[test]
fn a_spec_with_a_mistake_is_not_configured_and_shows_no_key() {
    for mistake in [
        json!({"kye": {"value": KEY}}),
        json!({"key": KEY}),
        json!({"key": {"env": KEY}}),
        json!({"baseUrl": format!("https://me:{KEY}@api.example.org")}),
        json!({"baseUrl": format!("https://api.example.org?key={KEY}")}),
        json!({"headers": {"authorization": [KEY]}}),
        json!({"proxy": {"url": format!("http://me:{KEY}@proxy")}}),
        json!({"timeouts": {"connect": 5}}),
    ] {
        for kind in ["anthropic", "google"] {
            let mut spec = mistake.clone();
            spec["type"] = kind.into();
            let error = provider_spec(&spec).expect_err("it is wrong");

            assert_eq!(error.code, ProviderNotConfigured, "{mistake}");
            assert!(!format!("{error:?}").contains(KEY), "{error:?}");
        }
    }
}

fn build(spec: &Value) -> Result<(), autonoe_model::ModelError> {
    let context = ProviderContext::new("mine");
    provider_spec(spec)
        .expect("a spec")
        .build(&context)
        .map(drop)
}

#[test]
fn build_error_names_missing_or_invalid_field() {
    let url = "http://127.0.0.1:9";
    for (spec, expected) in [
        (
            json!({"type": "anthropic"}),
            "the variable ANTHROPIC_API_KEY is not set",
        ),
        (
            json!({"type": "google"}),
            "the variable GEMINI_API_KEY is not set",
        ),
        (
            json!({"type": "google", "key": {"file": "/no/key"}}),
            "the file /no/key cannot be read",
        ),
        (
            json!({"type": "google", "baseUrl": url, "key": "none", "headers": {"host": "x"}}),
            "the header host cannot be set",
        ),
        (
            json!({"type": "google", "baseUrl": url, "key": "none", "headers": {"a b": "x"}}),
            "a header has an illegal name",
        ),
        (
            json!({"type": "google", "baseUrl": url, "key": "none", "headers": {"x-a": "a\nb"}}),
            "the header x-a has an illegal value",
        ),
        (
            json!({"type": "google", "baseUrl": url, "key": "none",
                   "proxy": {"url": "https://proxy"}}),
            "must begin with http://",
        ),
        (
            json!({"type": "google", "baseUrl": url, "key": "none", "timeouts": {"headMs": 0}}),
            "a timeout is 0",
        ),
    ] {
        let error = build(&spec).expect_err("something is missing");

        assert_eq!(error.code, ProviderNotConfigured, "{spec}");
        assert!(error.message.contains(expected), "{error}");
        assert!(error.message.contains("mine"), "{error}");
    }
}

// Shows: framework/models/provider-factory
#[test]
fn a_model_must_have_a_name() {
    let spec = json!({"type": "anthropic", "key": "none", "baseUrl": "http://127.0.0.1:9"});
    let spec: Box<dyn ProviderSpec> = provider_spec(&spec).expect("a spec");
    let provider = spec
        .build(&ProviderContext::new("mine"))
        .expect("it builds");

    assert_eq!(provider.model(" ").expect_err("none").code, ModelNotFound);
    let model = provider.model("m").expect("a model");
    assert_eq!(model.identity().to_string(), "mine/m");
    assert_eq!(format!("{model:?}"), "model mine/m");
}
