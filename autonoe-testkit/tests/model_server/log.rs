//! Request log of a server, as a test sees it.

use std::time::Duration;

use autonoe_testkit::model_server::anthropic::{AnthropicServer, Request, Turn};
use autonoe_testkit::model_server::{Credential, Exchange};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::model_server::client::{TIMEOUT, open, prompt, request_message, send, streamed};

#[tokio::test]
async fn a_request_is_logged_without_its_secrets() {
    let server = AnthropicServer::start([Turn::text("done")]);

    request_message(&server, &prompt("go")).await;

    let seen = server.log().exchanges().remove(0);
    assert_eq!((seen.number, seen.method.as_str()), (1, "POST"));
    assert_eq!(seen.path, "/v1/messages?beta=true");
    assert_eq!(seen.headers.get("user-agent"), Some("test/1"));
    assert_eq!(seen.headers.credential(), Some(Credential::ApiKey));
    assert_eq!(seen.headers.get("x-api-key"), Some("[redacted]"));
    assert!(!format!("{seen:?}").contains("hunter2"));
    let messages = seen.request.messages().unwrap();
    assert_eq!(messages.model, "claude-x");
    assert_eq!(
        messages.tool("Bash").unwrap().input_schema["type"],
        "object"
    );
}

#[tokio::test]
async fn the_log_reads_as_lines() {
    let server = AnthropicServer::start([Turn::text("done")]).unverified();
    send(&server, "HEAD", "/", "").await;
    request_message(&server, &prompt("go")).await;
    request_message(&server, &streamed("more")).await;

    assert_eq!(
        server.log().render(),
        "1. HEAD / (0 bytes): fixed answer, sent\n\
         2. POST /v1/messages?beta=true (claude-x, 1 tools, 1 messages): turn 1, sent\n\
         3. POST /v1/messages?beta=true (claude-x, 1 tools, 1 messages): \
         UNANSWERED, the script ends after 1 turns, sent\n"
    );
}

#[tokio::test]
async fn waiting_reader_receives_the_next_exchange() {
    let server = AnthropicServer::start([Turn::text("one"), Turn::text("two")]);
    let log = server.log().clone();
    let wait_for_text = |word: &'static str| {
        let log = log.clone();
        async move {
            let is_match = |seen: &Exchange<Request>| {
                seen.request
                    .messages()
                    .is_some_and(|messages| messages.user_texts() == [word])
            };
            log.wait_for(TIMEOUT, is_match).await
        }
    };

    let second = tokio::spawn(wait_for_text("second"));
    request_message(&server, &prompt("first")).await;
    request_message(&server, &prompt("second")).await;

    assert_eq!(second.await.unwrap().unwrap().number, 2);
    // Earlier requests are found as well.
    assert_eq!(wait_for_text("first").await.unwrap().number, 1);
}

#[tokio::test]
async fn timed_out_wait_lists_received_requests() {
    let server = AnthropicServer::start([Turn::text("done")]);
    request_message(&server, &prompt("go")).await;
    // The log waits in real time, even when tokio's time is paused.
    tokio::time::pause();

    let wait = server
        .log()
        .wait_for(Duration::from_millis(50), |seen| seen.number == 2);

    assert_eq!(
        wait.await.unwrap_err().to_string(),
        "no such request came within 50ms; the server saw:\n1. POST /v1/messages?beta=true \
         (claude-x, 1 tools, 1 messages): turn 1, sent"
    );
}

#[tokio::test]
async fn waiting_ends_with_the_server() {
    let server = AnthropicServer::start([Turn::text("done")]).unverified();
    let log = server.log().clone();
    let wait = tokio::spawn({
        let log = log.clone();
        async move { log.wait_for(TIMEOUT, |seen| seen.number == 1).await }
    });
    tokio::task::yield_now().await;

    drop(server);

    let expected = "no such request came before the server was stopped; the server saw: nothing";
    assert_eq!(wait.await.unwrap().unwrap_err().to_string(), expected);
    let late = log.wait_for(TIMEOUT, |_| true).await;
    assert_eq!(late.unwrap_err().to_string(), expected);
}

#[tokio::test]
async fn one_connection_can_carry_several_requests() {
    let server = AnthropicServer::start([Turn::text("one"), Turn::text("two")]);
    let body = prompt("go").to_string();
    let request = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: model\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = tokio::net::TcpStream::connect(server.address())
        .await
        .unwrap();

    for word in ["one", "two"] {
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        while !response.contains(word) {
            let mut piece = [0; 1024];
            let read = tokio::time::timeout(TIMEOUT, connection.read(&mut piece)).await;
            let length = read.expect("it comes in time").unwrap();
            assert_ne!(length, 0, "closed after {response}");
            response.push_str(&String::from_utf8_lossy(&piece[..length]));
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_its_request_is_not_logged() {
    let server = AnthropicServer::start([Turn::text("done")]);

    let mut half = tokio::net::TcpStream::connect(server.address())
        .await
        .unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: model\r\ncontent-length: 100\r\n\r\n{";
    half.write_all(head.as_bytes()).await.unwrap();
    drop(half);
    drop(open(&server, "HEAD", "/", "").await);
    request_message(&server, &prompt("go")).await;

    let is_match = |seen: &Exchange<Request>| seen.method == "HEAD";
    server.log().wait_for(TIMEOUT, is_match).await.unwrap();
    assert_eq!(server.log().main_requests().len(), 1);
    assert_eq!(server.log().exchanges().len(), 2);
}
