//! JSON Schema of the configuration, which editors use for completion.

use autonoe_core::project::AgentConfig;
use autonoe_core::tool::plain_schema;
use serde_json::Value;

fn schema() -> Value {
    plain_schema::<AgentConfig>().to_value()
}

#[test]
fn every_field_has_a_description() {
    let schema = schema();

    let properties = schema["properties"].as_object().expect("an object");
    let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "$schema",
            "allowCommands",
            "allowPkillTargets",
            "allowedTools",
            "backend",
            "environment",
            "hooks",
            "mcpServers",
            "permissions",
            "profile",
            "projectMemory"
        ]
    );
    for (name, property) in properties {
        assert!(property["description"].is_string(), "{name}");
    }
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn a_hook_is_described_with_its_tag_and_its_fields() {
    let schema = schema();

    let hooks = &schema["properties"]["hooks"]["items"]["oneOf"];
    let deny = &hooks[0];
    assert_eq!(deny["properties"]["type"]["const"], "core-deny-tool");
    assert_eq!(
        deny["required"],
        serde_json::json!(["rule", "reason", "type"])
    );
    assert!(deny["properties"]["reason"]["description"].is_string());
}

#[test]
fn every_reference_resolves() {
    fn follow(value: &Value, root: &Value, count: &mut usize) {
        if let Some(target) = value["$ref"].as_str() {
            let pointer = target
                .strip_prefix('#')
                .expect("a reference within the schema");
            assert!(root.pointer(pointer).is_some(), "{target}");
            *count += 1;
        }
        match value {
            Value::Object(fields) => fields.values().for_each(|value| follow(value, root, count)),
            Value::Array(items) => items.iter().for_each(|value| follow(value, root, count)),
            _ => {}
        }
    }
    let schema = schema();
    let mut count = 0;

    follow(&schema, &schema, &mut count);

    assert!(count > 5, "{count}");
}

#[test]
fn no_field_is_offered_as_null() {
    let schema = schema();

    let properties = schema["properties"].as_object().expect("an object");
    for (name, property) in properties {
        assert!(
            !property.to_string().contains(r#""null""#),
            "{name}: {property}"
        );
    }
    assert_eq!(schema.get("required"), None);
}
