//! Tests of MCP servers that do not start or end early.

use std::time::Duration;

use autonoe_core::AgentClientFactory;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::{McpServer, ToolStatus};
use serde_json::json;

use super::{Place, client, session, within};
use crate::agent::fixture::{ScriptedModel, agents, calls, text_reply, turn_of};

/// Starts a session whose servers fail, and returns the code and the message of its error.
async fn failed(place: &Place, servers: &[(&str, &str)], limit: Duration) -> (String, String) {
    let model = ScriptedModel::new([]);
    let mut client = client(&model, place.spec(servers), |options| {
        options.mcp.start_time = limit;
    });

    let turn = within(turn_of(client.as_mut(), "Begin.")).await;

    assert!(model.requests().is_empty(), "the model was asked");
    assert_eq!(place.processes(), 0, "a server outlives its failure");
    within(client.dispose()).await.expect("it ends");
    let error = turn.error.expect("it fails");
    (error.code().to_owned(), error.to_string())
}

#[tokio::test]
async fn a_session_with_a_crashing_server_fails_with_its_stderr() {
    let place = Place::new();

    let (code, message) = failed(&place, &[("web", "crash")], super::DEADLINE).await;

    assert_eq!(code, "other");
    let expected = "the MCP server \"web\" of the session: it exited with code 3 before it was \
                    ready; its standard error ended with: no browser is installed";
    assert_eq!(message, expected);
}

#[tokio::test]
async fn silent_server_fails_session_and_stops_other_servers() {
    let place = Place::new();
    let servers = [("web", "mute"), ("family", "family")];

    let (code, message) = failed(&place, &servers, Duration::from_secs(5)).await;

    assert_eq!(code, "timeout");
    assert!(
        message.contains("\"web\" of the session: it was not ready after 5s"),
        "{message}"
    );
    assert!(place.path("begun").exists(), "it had been started");
}

#[tokio::test]
async fn server_with_invalid_output_fails_with_that_output() {
    let place = Place::new();

    let (code, message) = failed(&place, &[("web", "garbage")], Duration::from_secs(5)).await;

    assert_eq!(code, "timeout");
    assert!(
        message.contains("it printed \"npm warn: nothing works\""),
        "{message}"
    );
}

#[tokio::test]
async fn all_servers_that_fail_are_named() {
    let place = Place::new();
    let servers = [("one", "crash"), ("two", "crash")];

    let (_, message) = failed(&place, &servers, super::DEADLINE).await;

    assert!(
        message.contains("\"one\"") && message.contains("\"two\""),
        "{message}"
    );
}

#[tokio::test]
async fn missing_server_program_is_a_configuration_error() {
    let place = Place::new();
    for command in ["no-such-program-anywhere", "/no/such/program", "./here"] {
        let mut spec = place.spec(&[]);
        let server = json!({"command": command});
        let server: McpServer = serde_json::from_value(server).expect("a server");
        spec.mcp_servers.insert("web".into(), server);
        let model = ScriptedModel::new([]);
        let mut client = client(&model, spec, |_| {});

        let turn = within(turn_of(client.as_mut(), "Begin.")).await;

        let error = turn.error.expect("it fails");
        assert_eq!(error.code(), "configuration", "{error}");
        assert!(error.to_string().contains(command), "{error}");
    }
}

#[tokio::test]
async fn servers_that_cannot_be_had_are_refused_before_anything_is_started() {
    let place = Place::new();
    for (name, server, code) in [
        (
            "web",
            json!({"type": "sse", "url": "http://localhost/"}),
            "unsupported",
        ),
        ("autonoe", json!({"command": "python3"}), "configuration"),
        ("a__b", json!({"command": "python3"}), "configuration"),
    ] {
        let mut spec = place.spec(&[]);
        let server: McpServer = serde_json::from_value(server).expect("a server");
        spec.mcp_servers.insert(name.into(), server);
        let agents = agents(&ScriptedModel::new([]), [], |_| {});

        let Err(refused) = agents.create(spec) else {
            panic!("{name} is not refused")
        };

        assert_eq!(refused.code(), code, "{refused}");
        assert!(refused.to_string().contains(name), "{refused}");
    }
}

#[tokio::test]
async fn calls_of_an_exited_server_fail_with_its_exit_status() {
    let place = Place::new();
    let die = calls(&[("a", "mcp__web__die", json!({}))]);
    let echo = calls(&[("b", "mcp__web__echo", json!({"text": "hello"}))]);
    let model = ScriptedModel::new([die, echo, text_reply("I give up.")]);
    let mut client = client(&model, place.spec(&[("web", "good")]), |_| {});

    let turn = within(turn_of(client.as_mut(), "Begin.")).await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    let expected = "IO_ERROR: the MCP server \"web\" is not available any more; it exited with \
                    code 7; its standard error ended with: out of memory";
    assert_eq!(
        turn.responses(),
        [
            ("a", expected, ToolStatus::Error),
            ("b", expected, ToolStatus::Error),
        ]
    );
    within(client.dispose()).await.expect("it ends");
}

#[tokio::test]
async fn a_server_that_floods_is_not_talked_to_any_more() {
    let place = Place::new();

    let (turn, _) = session(
        place.spec(&[("web", "good")]),
        &[("a", "mcp__web__flood", json!({}))],
        |options| options.mcp.message_bytes = 2_000_000,
    )
    .await;

    let [(_, message, ToolStatus::Error)] = turn.responses()[..] else {
        panic!("{turn:?}")
    };
    assert!(message.contains("more than 2000000 bytes"), "{message}");
    assert_eq!(place.processes(), 0);
}
