//! Many clients, and slow ones.

use std::time::Duration;

use autonoe_dashboard::web::ServeLimits;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::web::setting::{PATIENCE, Setting};

#[tokio::test]
async fn only_so_many_pages_watch_at_a_time() {
    let mut limits = ServeLimits::default();
    limits.streams = 2;
    limits.heartbeat = Duration::from_millis(20);
    let setting = Setting::within(limits).await;
    let mut first = setting.watch().await;
    let mut second = setting.watch().await;
    assert!(first.until("event: snapshot").await);
    assert!(second.until("event: snapshot").await);

    let mut third = setting.watch().await;
    assert!(third.until("503").await);
    assert_eq!(
        setting
            .ask_as_program("GET /api/dashboard", "")
            .await
            .status,
        200
    );

    // The place of one that left is free again, as soon as that is noticed.
    drop(first);
    let again = async {
        while !setting.watch().await.until("event: snapshot").await {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, again).await.expect("there is a place");
}

#[tokio::test]
async fn a_page_that_reads_nothing_loses_its_place() {
    let mut limits = ServeLimits::default();
    limits.streams = 1;
    limits.pace = Duration::ZERO;
    limits.heartbeat = Duration::from_millis(20);
    limits.write_time = Duration::from_millis(200);
    let setting = Setting::within(limits).await;
    // More than fits on the way to it.
    let long = "x".repeat(16 * 1024 * 1024);
    setting.feed.update(|fleet| fleet.objective = long);
    let mut stalled = setting.watch().await;
    assert!(stalled.until("event: snapshot").await);

    let other = async {
        loop {
            let mut watcher = setting.watch().await;
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
async fn connections_that_say_nothing_are_closed_and_make_room() {
    let mut limits = ServeLimits::default();
    limits.connections = 2;
    limits.read_time = Duration::from_millis(200);
    let setting = Setting::within(limits).await;
    let mut silent = setting.send("").await;
    let mut slow = setting.send("GET / HTTP/1.1\r\nHos").await;

    let answer = setting.ask_as_program("GET /api/dashboard", "").await;

    assert_eq!(answer.status, 200);
    for connection in [&mut silent, &mut slow] {
        let mut rest = Vec::new();
        let ended = timeout(PATIENCE, connection.read_to_end(&mut rest)).await;
        ended.expect("it is closed in time").expect("it is closed");
        assert!(!String::from_utf8_lossy(&rest).contains("200"), "{rest:?}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for_forever() {
    let mut limits = ServeLimits::default();
    limits.read_time = Duration::from_millis(200);
    let setting = Setting::within(limits).await;
    let head = [
        "POST /api/members/api/pause HTTP/1.1",
        "Host: {host}",
        "Authorization: Bearer {secret}",
        "Content-Length: 2",
    ];

    assert_eq!(setting.ask(&head, "").await.status, 408);
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let setting = Setting::new().await;
    let long = format!("X-Long: {}", "x".repeat(64 * 1024));

    let answer = setting
        .ask(&["GET / HTTP/1.1", "Host: {host}", &long], "")
        .await;

    assert_eq!(answer.status, 431);
}
