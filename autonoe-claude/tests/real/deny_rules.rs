//! Deny rules of the program, which refuse calls although the gate would allow them.

use autonoe_claude::{ClaudeBackend, ClaudeOptions, ClaudePermissionMode};
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::gate::PermissionRule;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, collect_events};

fn rule(text: &str) -> PermissionRule {
    text.parse().expect("a rule")
}

fn write(path: &str) -> Turn {
    Turn::tool("Write", json!({"file_path": path, "content": "x"}))
}

fn bash(command: &str) -> Turn {
    Turn::tool("Bash", json!({"command": command, "description": "do it"}))
}

async fn calls_that_the_rules_refuse_leave_no_trace(build: Build) {
    let outside = tempfile::tempdir().expect("a directory");
    let outside = outside.path().canonicalize().expect("it is there");
    let [refused, allowed] =
        ["refused", "allowed"].map(|name| outside.join(name).display().to_string());
    let script = ModelScript::new([
        write("secret/here.txt"),
        write(&format!("{refused}/there.txt")),
        bash("touch by-touch.txt"),
        write(&format!("{allowed}/there.txt")),
        bash("mkdir by-mkdir"),
        Turn::text("Done."),
    ]);
    let fixture = Fixture::new(build, script);
    let mut options = fixture.options();
    options.deny = vec![
        rule("Write(./secret/**)"),
        rule(&format!("Write({refused}/**)")),
        rule("Bash(touch *)"),
    ];
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(fixture.spec([])).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Write all of it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    // The older build reports a denied path as a mistake of the agent.
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolResponse { status, .. } => Some(*status == ToolStatus::Ok),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [false, false, false, true, true], "{events:?}");
    for name in ["secret", "by-touch.txt"] {
        assert!(!fixture.project().join(name).exists(), "{name}");
    }
    assert!(fixture.project().join("by-mkdir").exists());
    assert!(!outside.join("refused").exists());
    assert!(outside.join("allowed/there.txt").exists());
}

async fn in_plan_mode_the_newer_build_refuses_to_write(build: Build) {
    let fixture = Fixture::new(build, [write("here.txt"), Turn::text("Done.")]);
    let mut options = fixture.options();
    options.permission_mode = ClaudePermissionMode::Plan;
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(fixture.spec([])).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Write it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let is_written = fixture.project().join("here.txt").exists();
    assert_eq!(is_written, build == Build::OLDER, "{events:?}");
}

async fn a_session_that_does_not_get_its_servers_or_tools_does_no_work(build: Build) {
    for (set, kind, blamed) in [
        (
            (|options: &mut ClaudeOptions| {
                let server = serde_json::from_value(json!({"command": "false"}));
                let servers = &mut options.program.mcp_servers;
                servers.insert("ext".into(), server.expect("a server"));
            }) as fn(&mut ClaudeOptions),
            AgentErrorKind::Other,
            "the MCP server \"ext\" (program \"false\") failed",
        ),
        (
            |options| options.tools = Some(vec!["Read".into(), "Reed".into()]),
            AgentErrorKind::Configuration,
            "no tool \"Reed\"",
        ),
    ] {
        let fixture = Fixture::new(build, [write("here.txt"), Turn::text("Done.")]).unverified();
        let mut options = fixture.options();
        set(&mut options);
        let agents = ClaudeBackend::new(options);
        let mut client = agents.create(fixture.spec([])).expect("it can be made");

        let (events, error) = collect_events(client.as_mut(), "Write it.").await;
        client.dispose().await.expect("it ends");

        let error = error.unwrap_or_else(|| panic!("{events:?}"));
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(blamed), "{error}");
        assert!(!fixture.project().join("here.txt").exists());
    }
}

on_both_builds![
    calls_that_the_rules_refuse_leave_no_trace,
    in_plan_mode_the_newer_build_refuses_to_write,
    a_session_that_does_not_get_its_servers_or_tools_does_no_work,
];
