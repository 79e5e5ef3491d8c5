//! Tests of the grants of a run.

use std::path::PathBuf;

use serde_json::json;

use super::*;

fn project_paths() -> ProjectPaths {
    ProjectPaths::new("/srv/project")
}

fn write(paths: &[&str]) -> ToolCall {
    ToolCall::new("apply_patch", json!({}))
        .with_kind(ToolKind::Write {
            paths: paths.iter().map(PathBuf::from).collect(),
        })
        .in_dir("/srv/project")
}

fn named(name: &str, field: &str, value: &str) -> ToolCall {
    ToolCall::new(name, json!({ field: value })).in_dir("/srv/project")
}

#[test]
fn an_empty_list_grants_nothing() {
    assert_eq!(
        Grants::none().granting_rule(&write(&["a"]), &project_paths()),
        None
    );
}

#[test]
fn the_paths_of_one_call_may_be_granted_by_several_rules() {
    let rules = ["Write(a/**)", "Edit(b/**)"].map(|text| text.parse().expect("it is valid"));
    let grants = Grants::none().with_rules(rules);

    for (paths, by) in [
        (&["a/1"][..], Some("Write(a/**)")),
        (&["b/1", "b/2"], Some("Edit(b/**)")),
        (&["b/1", "a/1", "b/2"], Some("Edit(b/**) and Write(a/**)")),
        (&["a/1", "c/1"], None),
        (&[], None),
    ] {
        assert_eq!(
            grants
                .granting_rule(&write(paths), &project_paths())
                .as_deref(),
            by,
            "{paths:?}"
        );
    }
}

#[test]
fn the_baseline_grants_the_rules_of_the_specification() {
    for (call, in_run, in_sync) in [
        (named("Read", "file_path", "a"), true, true),
        (named("Read", "file_path", "/etc/hosts"), true, true),
        (named("Grep", "path", "/etc"), true, true),
        (named("LS", "path", "src"), true, true),
        (named("Bash", "command", "npm test && ls"), true, true),
        (named("TodoWrite", "todos", ""), true, true),
        (named("Write", "file_path", "src/a"), true, false),
        (named("MultiEdit", "file_path", "src/a"), true, false),
        (named("Write", "file_path", ".autonoe-note.md"), true, true),
        (
            named("Edit", "file_path", "/srv/project/.autonoe-note.md"),
            true,
            true,
        ),
        (
            named("Write", "file_path", "docs/.autonoe-note.md"),
            true,
            false,
        ),
        (named("Write", "file_path", "/tmp/a"), true, false),
        (named("Edit", "file_path", "/tmp/a/b"), true, false),
        (named("Write", "file_path", "/tmp/../etc/a"), false, false),
        (named("Write", "file_path", "/var/tmp/a"), false, false),
        (named("Write", "file_path", "../a"), false, false),
        (named("WebFetch", "url", "https://a.com"), false, false),
        (named("Task", "prompt", "x"), false, false),
        (named("mcp__playwright__click", "x", "y"), false, false),
    ] {
        for (mode, granted) in [(Mode::Run, in_run), (Mode::Sync, in_sync)] {
            let by = Grants::baseline(mode).granting_rule(&call, &project_paths());

            assert_eq!(by.is_some(), granted, "{mode} {call:?} by {by:?}");
        }
    }
}

#[test]
fn a_malformed_call_is_never_granted() {
    let grants = Grants::baseline(Mode::Run);

    assert_eq!(
        grants.granting_rule(&ToolCall::new("Read", json!({})), &project_paths()),
        None
    );
}

#[test]
fn a_tool_is_granted_by_name_or_by_server() {
    let grants = Grants::none()
        .with_tool("Task")
        .with_tool("mcp__web__*")
        .with_tool("no tool (");

    assert_eq!(
        grants
            .granting_rule(&named("Task", "x", "y"), &project_paths())
            .as_deref(),
        Some("Task")
    );
    assert_eq!(
        grants
            .granting_rule(&named("mcp__web__get", "x", "y"), &project_paths())
            .as_deref(),
        Some("mcp__web__*"),
    );
    assert_eq!(grants.rules().count(), 2);
}

#[test]
fn grants_are_a_list_of_texts_in_json() {
    let grants = Grants::none()
        .with_tool("Task")
        .with_tool("Task")
        .with_tool("mcp__web");

    let json = serde_json::to_value(&grants).expect("it serialises");

    assert_eq!(json, json!(["Task", "mcp__web"]));
    assert_eq!(
        serde_json::from_value::<Grants>(json).expect("it parses"),
        grants
    );
    let schema = schemars::schema_for!(Grants);
    assert_eq!(
        schema.pointer("/items/$ref"),
        Some(&json!("#/$defs/PermissionRule"))
    );
    assert_eq!(
        schema.pointer("/$defs/PermissionRule/type"),
        Some(&json!("string"))
    );
}

#[test]
fn the_tools_of_other_sessions_have_no_remedy() {
    for name in ["mcp__autonoe__create", "mcp__autonoe__verify"] {
        assert_eq!(
            Grants::remedy(&ToolCall::new(name, json!({}))),
            None,
            "{name}"
        );
    }
}

#[test]
fn the_remedy_is_a_setting_that_grants_the_call() {
    for (call, rule) in [
        (
            named("WebFetch", "url", "https://docs.rs/tokio?q=1"),
            Some("WebFetch(domain:docs.rs)"),
        ),
        (named("Task", "prompt", "look"), Some("Task")),
        (named("mcp__db__query", "sql", "x"), Some("mcp__db__query")),
        (named("WebFetch", "url", "docs.rs"), None),
        (named("a b", "x", "y"), None),
        (named("Bash", "command", "ls"), None),
        (write(&["a"]), None),
    ] {
        let expected = rule.map(|rule| {
            format!("add \"permissions\": {{\"allow\":[\"{rule}\"]}} to .autonoe/agent.json")
        });

        assert_eq!(Grants::remedy(&call), expected, "{call:?}");
        if let Some(rule) = rule {
            let granted = Grants::none().with_rule(rule.parse().expect("a rule"));
            assert!(
                granted.granting_rule(&call, &project_paths()).is_some(),
                "{call:?}"
            );
        }
    }
}
