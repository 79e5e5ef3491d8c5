//! Tests with many and with slow clients.

use std::time::Duration;

use autonoe_dashboard::web::ServeLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::web::fixture::{Fixture, PATIENCE, SECRET};

/// A request that keeps the connection open.
const KEEP_ALIVE_REQUEST: &str = "GET /api/dashboard HTTP/1.1\r\nHost: {host}\r\n\
    Authorization: Bearer {secret}\r\nConnection: keep-alive\r\n\r\n";

#[tokio::test]
async fn only_so_many_pages_watch_at_a_time() {
    let mut limits = ServeLimits::default();
    limits.streams = 2;
    limits.heartbeat = Duration::from_millis(20);
    let fixture = Fixture::within(limits).await;
    let mut first = fixture.watch().await;
    let mut second = fixture.watch().await;
    assert!(first.until("event: snapshot").await);
    assert!(second.until("event: snapshot").await);

    let mut third = fixture.watch().await;
    assert!(third.until("503").await);
    assert_eq!(
        fixture
            .ask_as_program("GET /api/dashboard", "")
            .await
            .status,
        200
    );

    // The slot of a disconnected page is free again, once this is noticed.
    drop(first);
    let reconnect = async {
        while !fixture.watch().await.until("event: snapshot").await {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, reconnect)
        .await
        .expect("there is a place");
}

#[tokio::test]
async fn a_page_that_reads_nothing_loses_its_place() {
    let mut limits = ServeLimits::default();
    limits.streams = 1;
    limits.snapshot_interval = Duration::ZERO;
    limits.heartbeat = Duration::from_millis(20);
    limits.write_time = Duration::from_millis(200);
    let fixture = Fixture::within(limits).await;
    // More than the buffers on the way can hold.
    let long = "x".repeat(16 * 1024 * 1024);
    fixture.feed.update(|fleet| fleet.objective = long);
    let mut stalled = fixture.watch().await;
    assert!(stalled.until("event: snapshot").await);

    let other = async {
        loop {
            let mut watcher = fixture.watch().await;
            if watcher.until("event: snapshot").await {
                return;
            }
            tokio::task::yield_now().await;
        }
    };

    timeout(PATIENCE, other)
        .await
        .expect("the place becomes free");
    drop(stalled);
}

#[tokio::test]
async fn connections_without_the_token_block_no_other_client() {
    let mut limits = ServeLimits::default();
    // Only a newer connection closes an idle one.
    limits.head_time = Duration::from_secs(3600);
    limits.read_time = Duration::from_secs(3600);
    let (most, all) = (limits.unauthenticated, limits.connections);
    let fixture = Fixture::within(limits).await;
    let mut page = fixture.watch().await;
    assert!(page.until("event: snapshot").await);

    let mut idle = Vec::new();
    for _ in 0..most + all {
        idle.push(fixture.send("").await);
        idle.push(fixture.send("GET / HTTP/1.1\r\nHos").await);
    }
    let answer = fixture.ask_as_program("GET /api/dashboard", "").await;

    assert_eq!(answer.status, 200);
    fixture
        .feed
        .update(|fleet| fleet.objective = "Changed".to_owned());
    assert!(page.until("Changed").await, "a page that watches stays");
    let first = timeout(PATIENCE, idle[0].read_to_end(&mut Vec::new())).await;
    first.expect("the oldest is closed").expect("it is closed");
}

#[tokio::test]
async fn connections_without_the_token_are_closed_soon() {
    assert!(ServeLimits::default().head_time <= Duration::from_secs(5));
    let mut limits = ServeLimits::default();
    limits.head_time = Duration::from_millis(50);
    limits.read_time = Duration::from_secs(3600);
    let fixture = Fixture::within(limits).await;
    // On a busy machine, authentication may take longer than that.
    let known = async {
        loop {
            let mut connection = fixture.send(KEEP_ALIVE_REQUEST).await;
            let mut start = [0; 12];
            if connection.read_exact(&mut start).await.is_ok() && &start == b"HTTP/1.1 200" {
                return connection;
            }
        }
    };
    let mut known = timeout(PATIENCE, known).await.expect("it answers");

    for request in [
        "",
        "GET / HTTP/1.1\r\nHos",
        "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n",
    ] {
        let mut connection = fixture.send(request).await;
        let mut rest = Vec::new();
        // The connection may be reset.
        let ended = timeout(PATIENCE, connection.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "it is closed in time");
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{rest:?}");
    }
    // An authenticated connection is older than all of them, and stays.
    let request = KEEP_ALIVE_REQUEST
        .replace("{host}", &fixture.host())
        .replace("{secret}", SECRET)
        .replace("keep-alive", "close");
    known
        .write_all(request.as_bytes())
        .await
        .expect("it is open");
    let mut rest = Vec::new();
    let ended = timeout(PATIENCE, known.read_to_end(&mut rest)).await;
    ended.expect("it is closed in time").expect("it is closed");
    assert!(String::from_utf8_lossy(&rest).contains("HTTP/1.1 200"));
}

#[tokio::test]
async fn authenticated_connection_above_limit_gets_503() {
    let mut limits = ServeLimits::default();
    limits.connections = 1;
    let fixture = Fixture::within(limits).await;
    let mut page = fixture.watch().await;
    assert!(page.until("event: snapshot").await);

    let answer = fixture.ask_as_program("GET /api/dashboard", "").await;

    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("too many connections"), "{answer:?}");
}

#[tokio::test]
async fn a_missing_body_times_out() {
    let mut limits = ServeLimits::default();
    limits.read_time = Duration::from_millis(200);
    let fixture = Fixture::within(limits).await;
    let head = [
        "POST /api/members/api/pause HTTP/1.1",
        "Host: {host}",
        "Authorization: Bearer {secret}",
        "Content-Length: 2",
    ];

    assert_eq!(fixture.request(&head, "").await.status, 408);
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let fixture = Fixture::new().await;
    let long = format!("X-Long: {}", "x".repeat(64 * 1024));

    let answer = fixture
        .request(&["GET / HTTP/1.1", "Host: {host}", &long], "")
        .await;

    assert_eq!(answer.status, 431);
}
