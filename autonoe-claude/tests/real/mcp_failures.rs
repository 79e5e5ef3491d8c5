//! Failures of a session's MCP servers.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use autonoe_claude::ClaudeBackend;
use autonoe_core::AgentClientFactory;
use autonoe_core::agent::AgentErrorKind;
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::{Value, json};

use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events};

/// Starts a server that answers every request with `status`, and returns its address.
fn start_server(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 64 * 1024]);
            let body = "the body";
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://127.0.0.1:{port}/mcp")
}

/// Returns the error of a session with `server`. The model is not called.
async fn failure(build: Build, server: Value) -> String {
    let fixture = Fixture::new(build, ModelScript::new::<Turn>([]));
    let server = serde_json::from_value(server).expect("a server");
    let mut options = fixture.options();
    options.program.mcp_servers.insert("ext".into(), server);
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(fixture.spec([])).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");

    assert!(events.is_empty(), "{events:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
    let error = error.expect("it does no work");
    assert_eq!(error.kind(), AgentErrorKind::Other, "{error}");
    assert!(error.remedy().is_some(), "{error}");
    error.to_string()
}

async fn a_program_that_fails_is_named_with_the_end_of_its_standard_error(build: Build) {
    let script = "echo starting >&2; echo cannot open the database >&2; exit 3";
    let message = failure(build, json!({"command": "sh", "args": ["-c", script]})).await;

    for words in [
        "the MCP server \"ext\" (program \"sh\") failed: ",
        "Connection closed",
        "its standard error ended with: starting; cannot open the database",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
}

async fn a_missing_program_is_named(build: Build) {
    let message = failure(build, json!({"command": "no-such-program"})).await;

    let named = "the MCP server \"ext\" (program \"no-such-program\") failed: ";
    assert!(message.starts_with(named), "{message}");
    assert!(message.contains("not found"), "{message}");
}

async fn a_server_over_http_is_named_with_the_status(build: Build) {
    for (status, expected) in [
        ("500 Internal Server Error", "failed with HTTP 500: "),
        ("403 Forbidden", "refused the credentials with HTTP 40"),
    ] {
        let url = start_server(status);
        let message = failure(
            build,
            json!({"type": "http", "url": format!("{url}?key=secret")}),
        )
        .await;

        let named = format!("the MCP server \"ext\" ({url}) {expected}");
        assert!(message.starts_with(&named), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

on_newer_build![
    a_program_that_fails_is_named_with_the_end_of_its_standard_error,
    a_missing_program_is_named,
    a_server_over_http_is_named_with_the_status,
];
