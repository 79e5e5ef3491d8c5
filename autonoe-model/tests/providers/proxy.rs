//! Tests of calls through a proxy.

use std::sync::{Arc, Mutex};

use autonoe_model::{ModelErrorCode, ModelRequest};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::providers::raw_server::{Act, ENDED, MESSAGE_START, RawServer, read_request, stream};
use crate::providers::support::{call, failure, model, tried_twice};

/// Opens one tunnel to the requested target, and records the request.
async fn tunnel_once(requests: Arc<Mutex<String>>) -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let task = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("a client");
        let request = read_request(&mut client).await.expect("readable");
        let (head, _) = request.expect("a request");
        let target = head.split(' ').nth(1).expect("a target").to_owned();
        *requests.lock().expect("it is free") = head;
        let mut server = TcpStream::connect(target).await.expect("it is there");
        client
            .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
            .await
            .expect("writable");
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    });
    (url, task)
}

#[tokio::test]
async fn a_call_uses_the_configured_proxy() {
    let server = RawServer::once([stream(&format!("{MESSAGE_START}{ENDED}"))]).await;
    let tunnel_request = Arc::default();
    let (url, task) = tunnel_once(Arc::clone(&tunnel_request)).await;
    let proxy = json!({"proxy": {"url": url, "login": {"value": "me:pass-word"}}});
    let model = model("anthropic", &server.url(), &proxy);

    let (_, end) = call(&model, &ModelRequest::prompt("Hi.")).await;

    assert_eq!(end.expect("it answers").message.to_text(), "Hi.");
    let head = tunnel_request.lock().expect("it is free").clone();
    let target = server.url().replace("http://", "");
    assert!(
        head.starts_with(&format!("CONNECT {target} HTTP/1.1\r\n")),
        "{head}"
    );
    assert!(
        head.contains("Proxy-Authorization: Basic bWU6cGFzcy13b3Jk"),
        "{head}"
    );
    assert_eq!(server.requests().len(), 1);
    task.abort();
}

#[tokio::test]
async fn a_refusal_by_a_proxy_is_retried_only_if_that_may_help() {
    use ModelErrorCode::{AuthenticationError, NetworkError, ProviderNotConfigured};
    for (status, code, attempts) in [
        ("407 Proxy Authentication Required", AuthenticationError, 1),
        ("403 Forbidden", ProviderNotConfigured, 1),
        ("502 Bad Gateway", NetworkError, 2),
    ] {
        let refusal = || vec![Act::Send(format!("HTTP/1.1 {status}\r\n\r\n")), Act::Close];
        let proxy = RawServer::start([refusal(), refusal()]).await;
        let model = model(
            "anthropic",
            "http://127.0.0.1:9",
            &json!({"proxy": {"url": proxy.url(), "login": {"value": "me:pass-word"}}}),
        );

        let error = failure(&tried_twice(model)).await;

        assert_eq!(error.code, code, "{error:?}");
        assert!(error.message.contains("the proxy"), "{error}");
        assert!(error.message.contains(&status[..3]), "{error}");
        assert!(!error.message.contains("pass-word"), "{error}");
        assert_eq!(proxy.requests().len(), attempts, "{status}");
    }
}

#[tokio::test]
async fn proxy_failures_are_reported_as_such() {
    use ModelErrorCode::{NetworkError, ProviderNotConfigured};
    let other = RawServer::once([Act::Send("SSH-2.0-server\r\n".into()), Act::Close]).await;
    let closed_port = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let closed_url = format!("http://{}", closed_port.local_addr().expect("an address"));
    drop(closed_port);
    for (url, code, words) in [
        (other.url(), ProviderNotConfigured, "did not answer in HTTP"),
        (closed_url, NetworkError, "cannot be reached"),
    ] {
        let proxy = json!({"proxy": {"url": url}});
        let model = model("anthropic", "http://127.0.0.1:9", &proxy);

        let error = failure(&model).await;

        assert_eq!(error.code, code, "{error:?}");
        assert!(error.message.starts_with("the proxy"), "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}
