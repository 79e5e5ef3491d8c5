//! Tests of tool definitions, and of the gate's view of their calls.

use autonoe_core::agent::Sandbox;
use autonoe_core::tool::ToolEffect;
use autonoe_core::{ToolCall, ToolKind};
use autonoe_model::{BuiltInOptions, built_in_tools};
use serde_json::json;

#[test]
fn tool_definitions_match_snapshot() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BuiltInOptions {
        sandbox: Sandbox::Off,
        ..BuiltInOptions::default()
    };
    let tools = built_in_tools(folder.path(), &options).expect("they are there");
    let definitions: Vec<_> = tools.iter().map(|tool| tool.definition()).collect();

    insta::assert_json_snapshot!(definitions);

    let reading = definitions
        .iter()
        .filter(|tool| tool.effect == ToolEffect::ReadOnly);
    let names: Vec<_> = reading.map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Read", "Glob", "Grep"]);
}

#[test]
fn the_gate_gets_the_kind_of_each_call() {
    let read = |path: &str| ToolKind::Read {
        paths: vec![path.into()],
    };
    let write = |path: &str| ToolKind::Write {
        paths: vec![path.into()],
    };
    for (name, input, kind) in [
        ("Read", json!({"file_path": "a"}), read("a")),
        (
            "Write",
            json!({"file_path": "a", "content": ""}),
            write("a"),
        ),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            write("a"),
        ),
        ("Grep", json!({"pattern": "x", "path": "src"}), read("src")),
        (
            "Bash",
            json!({"command": "ls"}),
            ToolKind::Shell {
                command: "ls".into(),
            },
        ),
    ] {
        assert_eq!(ToolCall::new(name, input).kind, kind, "{name}");
    }
}
