//! Fuzz tests with malformed requests.

use autonoe_mcp::{HttpToolServer, serve_stdio};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::fixture::{key, named, serve, soon, tools};
use crate::raw::{head, status};

/// Generates a piece of a request.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\r\n".to_owned()),
        Just("POST /sessions/1/mcp HTTP/1.1\r\n".to_owned()),
        Just("host: localhost\r\n".to_owned()),
        Just("content-type: application/json\r\n".to_owned()),
        Just("content-length: 5\r\n".to_owned()),
        Just("transfer-encoding: chunked\r\n".to_owned()),
        Just("mcp-session-id: x\r\n".to_owned()),
        Just("authorization: Bearer x\r\n".to_owned()),
        Just(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"act"}}"#.to_owned()
        ),
        "[ -~]{0,30}",
        "\\PC{0,10}",
    ]
}

#[test]
fn no_request_without_the_secret_gets_in() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = HttpToolServer::new();
    let (served, watch) = runtime.block_on(serve(&server, "mine"));
    let (url, _) = named(&served);
    let requests =
        prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat() + "\r\n\r\n");

    let result = TestRunner::new(Config::with_cases(300)).run(&requests, |request| {
        let code = runtime.block_on(soon(half_closed(&url, &request)));
        prop_assert!(
            [0, 400, 401, 403, 411, 413, 414, 431, 501, 505].contains(&code),
            "{}",
            code
        );
        Ok(())
    });

    result.expect("nothing gets in");
    assert_eq!(watch.called(), 0);
    // The server still serves authenticated clients.
    let text = runtime
        .block_on(async { soon(Agent::to(&served).await.text("act", json!({"do": "say"}))).await });
    assert_eq!(text, "mine: ");
}

/// Sends a request and closes the sending side, so that an incomplete request is not waited for.
async fn half_closed(url: &str, request: &str) -> u16 {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut connection = tokio::net::TcpStream::connect(crate::raw::authority(url))
        .await
        .expect("it is open");
    let _ = connection.write_all(request.as_bytes()).await;
    let _ = connection.shutdown().await;
    let mut response = Vec::new();
    let _ = connection.read_to_end(&mut response).await;
    crate::raw::status_of(&String::from_utf8_lossy(&response))
}

/// Generates nearly valid messages.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({"name": "look", "arguments": {}})),
        Just(json!({"name": "act", "arguments": {"do": "nothing"}})),
        Just(json!({"requestId": 1})),
    ];
    let method = prop_oneof![
        Just(json!("tools/call")),
        Just(json!("tools/list")),
        Just(json!("initialize")),
        Just(json!("notifications/cancelled")),
        value.clone(),
    ];
    let built = (value.clone(), method, value).prop_map(|(id, method, params)| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        message.to_string().into_bytes()
    });
    prop_oneof![
        4 => built,
        1 => prop::collection::vec(any::<u8>(), 0..60),
        1 => (10..3000usize).prop_map(|depth| [vec![b'['; depth], vec![b']'; depth]].concat()),
    ]
}

#[test]
fn answers_every_authenticated_message_with_a_status() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (served, _) = runtime.block_on(serve(&HttpToolServer::new(), "mine"));
    let (url, secret) = named(&served);

    let result = TestRunner::new(Config::with_cases(300)).run(&message(), |message| {
        let text = String::from_utf8_lossy(&message).into_owned();
        let request = format!(
            "{}content-length: {}\r\n\r\n{text}",
            head(&url, &secret),
            text.len()
        );
        let code = runtime.block_on(soon(status(&url, &request)));
        prop_assert!([200, 202, 400].contains(&code), "{}", code);
        Ok(())
    });

    result.expect("each is answered");
}

#[test]
fn every_line_over_pipes_is_answered_or_wants_no_answer() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let lines = prop::collection::vec(message(), 0..6);

    let result = TestRunner::new(Config::with_cases(300)).run(&lines, |lines| {
        let mut input = lines.join(&b'\n');
        input.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}\n");
        let mut output = Vec::new();
        let session = key(1);
        let served = serve_stdio(&session, tools("mine").0, &input[..], &mut output);
        runtime.block_on(soon(served)).expect("it ends well");
        let answers: Vec<Value> = output
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).expect("each line is a message"))
            .collect();
        let last = answers
            .iter()
            .filter(|answer| answer["id"] == json!("last"));
        prop_assert_eq!(last.count(), 1);
        Ok(())
    });

    result.expect("each is answered");
}
