//! Tests of refused requests and their statuses.

use autonoe_mcp::{HttpLimits, HttpToolServer};
use serde_json::json;

use crate::fixture::{named, serve, soon};
use crate::raw::{Raw, authority, head, request, status, status_of};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn each_flaw_of_a_request_has_its_status() {
    let server = HttpToolServer::new();
    let (served, watch) = serve(&server, "mine").await;
    let (other, _) = serve(&server, "other").await;
    let ((url, secret), (other_url, other_secret)) = (named(&served), named(&other));
    let good = format!(
        "{}content-length: {}\r\n\r\n{PING}",
        head(&url, &secret),
        PING.len()
    );
    let host = authority(&url);
    let without = |name: &str| {
        let lines = good.split("\r\n");
        let remaining = lines.filter(|line| !line.starts_with(name));
        remaining.collect::<Vec<_>>().join("\r\n")
    };
    let with = |more: &str| good.replacen("\r\n", &format!("\r\n{more}\r\n"), 1);
    let call = request(
        "tools/call",
        &json!({"name": "act", "arguments": {"do": "say"}}),
    );

    for (case, request, expected) in [
        ("a good one", good.clone(), 200),
        (
            "by another name of this machine",
            good.replace(host, "localhost"),
            200,
        ),
        (
            "from a page of this machine",
            with(&format!("origin: http://{host}")),
            200,
        ),
        ("no secret", without("authorization"), 401),
        ("an empty secret", good.replace(&secret, "Bearer "), 401),
        ("another secret", good.replace(&secret, &other_secret), 401),
        ("half a secret", good.replace(&secret, &secret[..40]), 401),
        (
            "a longer secret",
            good.replace(&secret, &format!("{secret}0")),
            401,
        ),
        ("another scheme", good.replace("Bearer", "Basic"), 401),
        (
            "two secrets",
            with(&format!("authorization: {secret}")),
            401,
        ),
        (
            "another session",
            good.replace(path(&url), path(&other_url)),
            401,
        ),
        (
            "no session",
            good.replace(path(&url), "/sessions/99/mcp"),
            401,
        ),
        ("no path", good.replace(path(&url), "/"), 401),
        ("no host", without("host"), 403),
        ("a foreign host", good.replace(host, "evil.example"), 403),
        (
            "a host that begins like ours",
            good.replace(host, "localhost.evil.example"),
            403,
        ),
        ("a foreign page", with("origin: http://evil.example"), 403),
        ("a page without a site", with("origin: null"), 403),
        ("a GET", good.replace("POST", "GET"), 405),
        ("an unknown method", good.replace("POST", "BREW"), 405),
        ("a goodbye of nobody", good.replace("POST", "DELETE"), 400),
        (
            "a goodbye of a stranger",
            with("mcp-session-id: x").replace("POST", "DELETE"),
            404,
        ),
        ("a stranger", with("mcp-session-id: x"), 404),
        ("no type", without("content-type"), 415),
        (
            "another type",
            good.replace("application/json", "text/plain"),
            415,
        ),
        (
            "an answer that we do not have",
            with("accept: text/html"),
            406,
        ),
        (
            "an unknown version",
            with("mcp-protocol-version: 1999-01-01"),
            400,
        ),
        ("no JSON", good.replace(PING, &PING.replace('{', "[")), 400),
        ("no HTTP", "hello\r\n\r\n".to_owned(), 400),
        (
            "a call without a length",
            format!("{}\r\n{call}", head(&url, &secret)),
            400,
        ),
    ] {
        let code = soon(status(&url, &request)).await;

        assert_eq!(code, expected, "{case}");
    }
    assert_eq!(watch.called(), 0);
}

fn path(url: &str) -> &str {
    &url["http://".len() + authority(url).len()..]
}

#[tokio::test]
async fn request_without_secret_is_refused_before_its_body() {
    let (served, _) = serve(&HttpToolServer::new(), "mine").await;
    let (url, secret) = named(&served);
    let mut raw = Raw::connect(&url).await;

    // It declares a long body, and sends nothing of it.
    let wrong = head(&url, &format!("{secret}0"));
    raw.send(&format!("{wrong}content-length: 1000000\r\n\r\n"))
        .await;
    let response = soon(raw.rest()).await;

    assert_eq!(status_of(&response), 401);
    let response = response.to_ascii_lowercase();
    assert!(response.contains("www-authenticate: bearer"), "{response}");
    assert!(response.contains("connection: close"), "{response}");
}

#[tokio::test]
async fn oversized_requests_are_refused() {
    let mut limits = HttpLimits::default();
    limits.body_bytes = 1000;
    limits.headers = 20;
    let (served, watch) = serve(&HttpToolServer::with_limits(limits), "mine").await;
    let (url, secret) = named(&served);
    let good = head(&url, &secret);
    let long = "x".repeat(2000);
    let chunked = format!("transfer-encoding: chunked\r\n\r\n7d0\r\n{long}\r\n0\r\n\r\n");
    let headers: String = (0..30).map(|number| format!("x-{number}: 1\r\n")).collect();
    let head = format!("x-long: {}\r\n", "x".repeat(40_000));

    for (case, request, expected) in [
        (
            "a long body",
            format!("{good}content-length: 2000\r\n\r\n{long}"),
            413,
        ),
        ("a long body in pieces", format!("{good}{chunked}"), 413),
        (
            "a body that is not sent",
            format!("{good}content-length: 9999999999\r\n\r\n"),
            413,
        ),
        (
            "many headers",
            format!("{good}{headers}content-length: 2\r\n\r\n{{}}"),
            431,
        ),
        (
            "a long header",
            format!("{good}{head}content-length: 2\r\n\r\n{{}}"),
            431,
        ),
    ] {
        let code = soon(status(&url, &request)).await;

        assert_eq!(code, expected, "{case}");
    }
    assert_eq!(watch.called(), 0);
}

#[tokio::test]
async fn silent_clients_time_out_and_free_connections() {
    let mut limits = HttpLimits::default();
    limits.read_time = std::time::Duration::from_millis(50);
    limits.connections = 1;
    let (served, _) = serve(&HttpToolServer::with_limits(limits), "mine").await;
    let (url, secret) = named(&served);
    let silent = Raw::connect(&url).await;
    let mut slow = Raw::connect(&url).await;
    slow.send(&format!(
        "{}content-length: 10\r\n\r\n{{",
        head(&url, &secret)
    ))
    .await;

    let (nothing, late) = soon(async { (silent.rest().await, slow.rest().await) }).await;

    assert_eq!(nothing, "");
    assert_eq!(status_of(&late), 408);
    let good = format!(
        "{}content-length: {}\r\n\r\n{PING}",
        head(&url, &secret),
        PING.len()
    );
    assert_eq!(soon(status(&url, &good)).await, 200);
}
