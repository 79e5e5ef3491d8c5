//! Rules of the program that refuse calls although the gate would allow them.

use autonoe_claude::{ClaudeAgents, ClaudeOptions, PermissionMode};
use autonoe_core::{AgentClientFactory, AgentErrorKind, PermissionRule, StreamEvent, ToolStatus};
use autonoe_testkit::model_server::anthropic::{Script, Turn};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::setting::{Setting, events_of};

fn rule(text: &str) -> PermissionRule {
    text.parse().expect("a rule")
}

fn write(path: &str) -> Turn {
    Turn::tool("Write", json!({"file_path": path, "content": "x"}))
}

fn bash(command: &str) -> Turn {
    Turn::tool("Bash", json!({"command": command, "description": "do it"}))
}

async fn what_the_rules_refuse_leaves_no_trace(build: Build) {
    let outside = tempfile::tempdir().expect("a directory");
    let outside = outside.path().canonicalize().expect("it is there");
    let [refused, allowed] =
        ["refused", "allowed"].map(|name| outside.join(name).display().to_string());
    let script = Script::new([
        write("secret/here.txt"),
        write(&format!("{refused}/there.txt")),
        bash("touch by-touch.txt"),
        write(&format!("{allowed}/there.txt")),
        bash("mkdir by-mkdir"),
        Turn::text("Done."),
    ]);
    let setting = Setting::new(build, script);
    let options = setting.options().with_deny([
        rule("Write(./secret/**)"),
        rule(&format!("Write({refused}/**)")),
        rule("Bash(touch *)"),
    ]);
    let agents = ClaudeAgents::new(options);
    let mut client = agents.create(setting.spec([])).expect("it can be made");

    let (events, error) = events_of(client.as_mut(), "Write all of it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    // The older build takes a path that is refused for a mistake of the agent.
    let happened: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ToolResponse { status, .. } => Some(*status == ToolStatus::Ok),
            _ => None,
        })
        .collect();
    assert_eq!(happened, [false, false, false, true, true], "{events:?}");
    for name in ["secret", "by-touch.txt"] {
        assert!(!setting.project().join(name).exists(), "{name}");
    }
    assert!(setting.project().join("by-mkdir").exists());
    assert!(!outside.join("refused").exists());
    assert!(outside.join("allowed/there.txt").exists());
}

async fn in_plan_mode_the_newer_build_refuses_to_write(build: Build) {
    let setting = Setting::new(build, [write("here.txt"), Turn::text("Done.")]);
    let options = setting.options();
    let agents = ClaudeAgents::new(options.with_permission_mode(PermissionMode::Plan));
    let mut client = agents.create(setting.spec([])).expect("it can be made");

    let (events, error) = events_of(client.as_mut(), "Write it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let is_written = setting.project().join("here.txt").exists();
    assert_eq!(is_written, build == Build::OLDER, "{events:?}");
}

async fn a_session_that_does_not_get_its_servers_or_tools_does_no_work(build: Build) {
    for (options, kind, blamed) in [
        (
            (|options: ClaudeOptions| {
                let server = serde_json::from_value(json!({"command": "false"}));
                options.with_mcp_server("ext", server.expect("a server"))
            }) as fn(ClaudeOptions) -> ClaudeOptions,
            AgentErrorKind::Other,
            "the MCP server \"ext\" (program \"false\") failed",
        ),
        (
            |options| options.with_tools(["Read", "Reed"]),
            AgentErrorKind::Configuration,
            "no tool \"Reed\"",
        ),
    ] {
        let setting = Setting::new(build, [write("here.txt"), Turn::text("Done.")]).unverified();
        let agents = ClaudeAgents::new(options(setting.options()));
        let mut client = agents.create(setting.spec([])).expect("it can be made");

        let (events, error) = events_of(client.as_mut(), "Write it.").await;
        client.dispose().await.expect("it ends");

        let error = error.unwrap_or_else(|| panic!("{events:?}"));
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(blamed), "{error}");
        assert!(!setting.project().join("here.txt").exists());
    }
}

on_both_builds![
    what_the_rules_refuse_leaves_no_trace,
    in_plan_mode_the_newer_build_refuses_to_write,
    a_session_that_does_not_get_its_servers_or_tools_does_no_work,
];
