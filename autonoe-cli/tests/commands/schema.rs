//! Tests of `autonoe schema`, and of the plugins whose schemas it prints.

use std::fs;
use std::path::Path;

use autonoe_acp as _;
use autonoe_claude as _;
use autonoe_codex as _;
use autonoe_core::spec::{SpecPort, registered_specs};
use autonoe_model as _;
use autonoe_testkit::conformance;
use serde_json::Value;

use crate::commands::fixture::Fixture;

#[test]
fn schema_lists_names_with_descriptions() {
    insta::assert_snapshot!(Fixture::new().autonoe(&["schema"]).screen());
}

#[test]
fn every_name_prints_a_schema_and_committed_ones_are_the_same() {
    let fixture = Fixture::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas");
    let writes = std::env::var_os("AUTONOE_UPDATE_SCHEMAS").is_some();
    let mut committed = 0;
    for line in fixture.autonoe(&["schema"]).stdout.lines() {
        let name = line.split_whitespace().next().expect("a name");

        let output = fixture.autonoe(&["schema", name]);

        let schema: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert!(output.code == 0 && schema.is_object(), "{name}");
        // This test maintains the schemas of the command's own input and output, and those that
        // name backends, because only the command knows all backends. The tests of the libraries
        // maintain the others.
        let is_own = name.starts_with("output.") || ["models", "agent-config"].contains(&name);
        let file = folder.join(format!("{name}.json"));
        if writes && is_own {
            fs::write(&file, &output.stdout).expect("writable");
        }
        assert!(
            !is_own || file.exists(),
            "{name} is not committed; run `cargo xtask schemas`"
        );
        if let Ok(text) = fs::read_to_string(&file) {
            committed += 1;
            assert_eq!(output.stdout, text, "{name}");
        }
    }
    let files = fs::read_dir(folder).expect("readable").flatten();
    assert_eq!(committed, files.count());
}

#[test]
fn schema_of_a_backend_has_a_short_name() {
    let fixture = Fixture::new();
    let schema = |name| -> Value {
        let output = fixture.autonoe(&["schema", name]);
        serde_json::from_str(&output.stdout).expect("JSON")
    };

    assert_eq!(schema("claude"), schema("backend.claude"));
    assert_eq!(schema("claude")["properties"]["type"]["const"], "claude");
    let scripted = schema("scripted");
    assert!(scripted["properties"]["sessions"].is_object());
    let description = scripted["description"].as_str().expect("a text");
    assert!(description.contains("without a `type`"), "{description}");
    assert!(!description.contains("\"type\""), "{description}");
}

#[test]
fn an_unknown_name_is_wrong_usage_with_a_hint() {
    insta::assert_snapshot!(Fixture::new().autonoe(&["schema", "agent"]).screen());
}

#[test]
fn every_spec_that_the_command_knows_keeps_the_rules() {
    let backends = registered_specs(SpecPort::Backend);
    let tags: Vec<_> = backends.iter().map(|spec| spec.tag).collect();

    let expected = ["acp", "claude", "codex", "gemini", "model", "scripted"];
    assert_eq!(tags, expected);
    conformance::specs().assert();
}
