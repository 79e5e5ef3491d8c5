//! Tests of remote MCP servers over HTTP.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use autonoe_core::SessionSpec;
use autonoe_core::tool::{McpServer, ToolStatus};
use serde_json::json;

use super::{DEADLINE, Place, client, session, within};
use crate::agent::fixture::{ScriptedModel, turn_of};

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/agent/mcp/remote_server.py"
);

/// A server with the given behaviour, until dropped.
struct Remote {
    process: Child,
    port: String,
}

impl Remote {
    async fn start(place: &Place, mode: &str) -> Self {
        let process = Command::new("python3")
            .args([SCRIPT, mode])
            .current_dir(place.path(""))
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let port = place.content_of("port").await;
        Self { process, port }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a session with the server at `port`, and a key for it.
fn spec(place: &Place, port: &str, key: &str) -> SessionSpec {
    let mut spec = place.spec(&[]);
    let server = json!({
        "type": "http",
        "url": format!("http://127.0.0.1:{port}/mcp?token=hidden"),
        "headers": {"Authorization": format!("Bearer {key}")},
    });
    let server: McpServer = serde_json::from_value(server).expect("a server");
    spec.mcp_servers.insert("web".into(), server);
    spec
}

#[tokio::test]
async fn tools_are_called_whether_a_server_answers_at_once_or_by_events() {
    for mode in ["json", "events"] {
        let place = Place::new();
        let remote = Remote::start(&place, mode).await;

        let (turn, _) = session(
            spec(&place, &remote.port, "good"),
            &[
                ("a", "mcp__web__hello", json!({})),
                ("b", "mcp__web__hello", json!({})),
            ],
            |_| {},
        )
        .await;

        assert_eq!(
            turn.responses(),
            [
                ("a", "hello", ToolStatus::Ok),
                ("b", "hello", ToolStatus::Ok)
            ],
            "{mode}"
        );
        assert_eq!(place.content_of("deleted").await, "s-1", "{mode}");
    }
}

#[tokio::test]
async fn a_session_with_an_unreachable_server_fails_before_its_first_prompt() {
    for (mode, key, code, expected) in [
        ("json", "bad", "other", "HTTP 401"),
        ("elsewhere", "good", "other", "HTTP 307"),
        ("hangs", "good", "timeout", "not ready after 3s"),
        ("gone", "good", "other", "cannot be reached"),
    ] {
        let place = Place::new();
        let remote = Remote::start(&place, mode).await;
        let spec = spec(&place, &remote.port, key);
        // A dropped server leaves a port without a listener.
        let _held = (mode != "gone").then_some(remote);
        let model = ScriptedModel::new([]);
        let mut client = client(&model, spec, |options| {
            options.mcp.start_time = match mode {
                "hangs" => Duration::from_secs(3),
                _ => DEADLINE,
            };
        });

        let turn = within(turn_of(client.as_mut(), "Begin.")).await;

        let error = turn.error.expect("it fails");
        let message = error.to_string();
        assert_eq!(error.code(), code, "{mode}: {message}");
        assert!(
            message.contains(expected) && message.contains("\"web\""),
            "{mode}: {message}"
        );
        assert!(
            !message.contains("hidden") && !message.contains("bad"),
            "{mode}: {message}"
        );
        assert!(model.requests().is_empty());
        within(client.dispose()).await.expect("it ends");
    }
}

#[tokio::test]
async fn calls_of_a_flooding_or_dead_server_fail() {
    for mode in ["json", "events"] {
        for (tool, limit) in [("flood", 1_000_000), ("die", 16_000_000)] {
            let place = Place::new();
            let remote = Remote::start(&place, mode).await;
            let name = format!("mcp__web__{tool}");

            let (turn, _) = session(
                spec(&place, &remote.port, "good"),
                &[("a", &name, json!({}))],
                |options| options.mcp.message_bytes = limit,
            )
            .await;

            let [(_, output, ToolStatus::Error)] = turn.responses()[..] else {
                panic!("{mode} {tool}: {turn:?}")
            };
            assert!(output.starts_with("IO_ERROR"), "{mode} {tool}: {output}");
            assert!(!output.contains("hidden"), "{mode} {tool}: {output}");
        }
    }
}
