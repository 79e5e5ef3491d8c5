//! Tests of tool calls.

use serde_json::json;

use super::*;

// Shows: interfaces/hooks/input
#[test]
fn the_names_of_the_specification_are_classified() {
    let write = |path: &str| ToolKind::Write {
        paths: vec![path.into()],
    };
    let read = |path: &str| ToolKind::Read {
        paths: vec![path.into()],
    };
    for (name, input, kind) in [
        (
            "Bash",
            json!({"command": "ls"}),
            ToolKind::Shell {
                command: "ls".into(),
            },
        ),
        ("Write", json!({"file_path": "a"}), write("a")),
        ("Edit", json!({"file_path": "a"}), write("a")),
        ("MultiEdit", json!({"file_path": "a"}), write("a")),
        ("NotebookEdit", json!({"notebook_path": "a"}), write("a")),
        ("Read", json!({"file_path": "a"}), read("a")),
        ("Grep", json!({"pattern": "x"}), read(".")),
        (
            "Glob",
            json!({"pattern": "*.rs", "path": "src"}),
            read("src"),
        ),
        (
            "Glob",
            json!({"pattern": "../up/*.rs"}),
            ToolKind::Read {
                paths: vec![".".into(), "./../up".into()],
            },
        ),
        (
            "Glob",
            json!({"pattern": " /x/.ssh/*"}),
            ToolKind::Read {
                paths: vec![".".into(), "/x/.ssh".into()],
            },
        ),
        (
            "WebFetch",
            json!({"url": "http://x"}),
            ToolKind::Fetch {
                url: "http://x".into(),
            },
        ),
        (
            "mcp__autonoe__create",
            json!({}),
            ToolKind::Mcp {
                server: "autonoe".into(),
                tool: "create".into(),
            },
        ),
        ("Task", json!({}), ToolKind::Other),
        ("mcp__", json!({}), ToolKind::Other),
    ] {
        assert_eq!(ToolKind::from_name(name, &input), kind, "{name} {input}");
    }
}

#[test]
fn a_known_tool_with_an_unusable_input_is_malformed() {
    for (name, input) in [
        ("Bash", json!({"cmd": "rm -rf /"})),
        ("Bash", json!({"command": ["rm"]})),
        ("Write", json!({})),
        ("Edit", json!(null)),
        ("Glob", json!({"path": 3})),
        ("Glob", json!({"pattern": "*/../../x"})),
        ("Glob", json!({"pattern": "{..,a}/x"})),
        ("Glob", json!({"pattern": "@(..)/x"})),
        ("WebFetch", json!({"url": null})),
    ] {
        let kind = ToolKind::from_name(name, &input);

        assert!(
            matches!(kind, ToolKind::Malformed { .. }),
            "{name} {input}: {kind:?}"
        );
    }
}

#[test]
fn a_server_is_certain_only_when_the_name_has_one_reading() {
    for (name, server) in [
        ("mcp__autonoe__create", Some("autonoe")),
        ("mcp__a__b_c", Some("a")),
        ("mcp__autonoe__evil__write", None),
        ("mcp__autonoe___write", None),
        ("Task", None),
    ] {
        let kind = ToolKind::from_name(name, &json!({}));

        assert_eq!(kind.unambiguous_server(), server, "{name}");
    }
}
