//! Tests of disconnects and shutdown.

use autonoe_mcp::{BridgeError, HttpToolServer, bridge_stdio, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, duplex};
use tokio::net::TcpStream;

use crate::agent::Agent;
use crate::fixture::{key, named, serve, soon, tools};
use crate::raw::{Raw, head, request};

#[tokio::test]
async fn the_port_is_closed_with_the_last_session_and_open_for_the_next() {
    let server = HttpToolServer::new();
    let (one, _) = serve(&server, "one").await;
    let (two, _) = serve(&server, "two").await;
    let address = |url: &str| {
        let rest = url.strip_prefix("http://").expect("it is HTTP");
        rest.split('/').next().expect("an authority").to_owned()
    };
    let (one_at, two_at) = (address(&named(&one).0), address(&named(&two).0));
    assert_eq!(one_at, two_at, "one port for all");

    drop(one);
    assert!(TcpStream::connect(&two_at).await.is_ok());
    drop(two);

    // The task that owns the port ends a moment later.
    soon(async {
        while TcpStream::connect(&two_at).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let (three, _) = serve(&server, "three").await;
    let text = soon(Agent::to(&three).await.text("act", json!({"do": "say"}))).await;
    assert_eq!(text, "three: ");
}

#[tokio::test]
async fn client_disconnect_cancels_the_call() {
    let (served, watch) = serve(&HttpToolServer::new(), "mine").await;
    let (url, secret) = named(&served);
    for accept in ["application/json", "application/json, text/event-stream"] {
        let call = request(
            "tools/call",
            &json!({"name": "act", "arguments": {"do": "wait"}}),
        );
        let mut raw = Raw::connect(&url).await;
        raw.send(&format!(
            "{}accept: {accept}\r\ncontent-length: {}\r\n\r\n{call}",
            head(&url, &secret),
            call.len()
        ))
        .await;
        soon(watch.waiting.notified()).await;

        drop(raw);

        soon(watch.over.notified()).await;
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_not_known_any_more() {
    let (served, watch) = serve(&HttpToolServer::new(), "mine").await;
    let agent = Agent::to(&served).await;
    let handle = agent.begin("act", json!({"do": "wait"})).await;
    soon(watch.waiting.notified()).await;

    agent.close().await;

    soon(watch.over.notified()).await;
    drop(handle);
}

#[tokio::test]
async fn calls_over_pipes_are_answered_after_the_input_ends() {
    let call = request(
        "tools/call",
        &json!({"name": "act", "arguments": {"do": "say", "text": "x"}}),
    );
    let mut output = Vec::new();

    soon(serve_stdio(
        &key(1),
        tools("mine").0,
        call.as_bytes(),
        &mut output,
    ))
    .await
    .expect("it ends well");

    let answer: Value = serde_json::from_slice(&output).expect("it is one line");
    assert_eq!(answer["result"]["content"][0]["text"], json!("mine: x"));
}

#[tokio::test]
async fn a_call_over_pipes_that_takes_too_long_after_the_end_is_cancelled() {
    let call = request(
        "tools/call",
        &json!({"name": "act", "arguments": {"do": "wait"}}),
    );
    let (tools, watch) = tools("mine");
    let mut output = Vec::new();

    tokio::time::pause();
    serve_stdio(&key(1), tools, call.as_bytes(), &mut output)
        .await
        .expect("it ends well");

    watch.over.notified().await;
    let answer: Value = serde_json::from_slice(&output).expect("it is one line");
    assert_eq!(answer["result"]["isError"], json!(true));
}

#[tokio::test]
async fn bridged_agent_gets_error_after_run_ended() {
    let server = HttpToolServer::new().by_command("autonoe");
    let (served, _) = serve(&server, "mine").await;
    let agent = Agent::to(&served).await;

    drop(served);

    let result = soon(agent.call("act", json!({"do": "say"}))).await;
    let error = result.expect_err("the run has ended").to_string();
    assert!(error.contains("the run"), "{error}");
}

#[tokio::test]
async fn bridge_to_unusable_server_fails_on_both_sides() {
    let (served, _) = serve(&HttpToolServer::new(), "mine").await;
    let (url, _) = named(&served);
    let greeting = request("initialize", &json!({"protocolVersion": "2025-11-25"}));
    for (token, is_unreachable) in [("wrong", false), ("right", true)] {
        let port = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let closed_port = format!("http://{}/", port.local_addr().expect("it is bound"));
        drop(port);
        let url = if is_unreachable { &closed_port } else { &url };
        let mut output = Vec::new();

        let ended = soon(bridge_stdio(url, token, greeting.as_bytes(), &mut output)).await;

        match ended {
            Err(BridgeError::Unreachable(_)) => assert!(is_unreachable),
            Err(BridgeError::Refused(status)) => assert_eq!((is_unreachable, status), (false, 401)),
            other => panic!("it ended with {other:?}"),
        }
        let answer: Value = serde_json::from_slice(&output).expect("it is one line");
        assert_eq!(answer["error"]["code"], json!(-32000));
        assert_eq!(answer["id"], json!(1));
    }
}

#[tokio::test]
async fn the_bridge_ends_when_the_agent_closes_its_input() {
    let (served, _) = serve(&HttpToolServer::new(), "mine").await;
    let (url, secret) = named(&served);
    let token = secret.strip_prefix("Bearer ").expect("a bearer");
    let (input, mut agent) = duplex(1024);
    let (output, reader) = duplex(1024);
    drop(reader);
    let ping = request("ping", &json!({})) + "\n";
    agent.write_all(ping.as_bytes()).await.expect("it listens");

    let ended = soon(bridge_stdio(&url, token, input, output)).await;

    assert!(ended.is_ok(), "{ended:?}");
}

#[tokio::test]
async fn closes_the_connection_on_an_overlong_message() {
    let (mut agent, pipe) = duplex(1024 * 1024);
    let server = tokio::spawn(async move {
        let mut output = Vec::new();
        serve_stdio(&key(1), tools("mine").0, pipe, &mut output).await
    });
    let piece = vec![b' '; 1024 * 1024];

    let mut written = Ok(());
    for _ in 0..8 {
        written = written.and(agent.write_all(&piece).await);
    }

    let ended = soon(server).await.expect("it does not panic");
    assert!(ended.is_err());
    assert!(written.is_err(), "no reader continues");
}
