//! Tests of responses to authenticated clients.

use std::time::Duration;

use autonoe_dashboard::Dashboard;
use autonoe_dashboard::web::ServeLimits;

use crate::sample::EVIL;
use crate::web::fixture::{FOLDER, Fixture, SECRET};

#[tokio::test]
async fn the_first_visit_brings_the_page_and_a_cookie() {
    let fixture = Fixture::new().await;
    let head = ["GET /?token={secret} HTTP/1.1", "Host: {host}"];

    let answer = fixture.request(&head, "").await;

    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("<title>"), "{}", answer.body);
    let cookie = format!("autonoe-dashboard={SECRET}; path={FOLDER}/; httponly; samesite=strict");
    assert_eq!(answer.header("set-cookie"), Some(cookie.as_str()));
    assert!(
        !answer.body.contains(SECRET),
        "the page itself has no secret"
    );
}

#[tokio::test]
async fn a_request_with_the_cookie_gets_no_new_one() {
    let fixture = Fixture::new().await;
    let head = [
        "GET {folder}/ HTTP/1.1",
        "Host: {host}",
        "Cookie: other=1; autonoe-dashboard={secret}",
    ];

    let answer = fixture.request(&head, "").await;

    assert_eq!((answer.status, answer.header("set-cookie")), (200, None));
}

#[tokio::test]
async fn the_page_may_run_only_its_own_script() {
    let fixture = Fixture::new().await;

    let answer = fixture.ask_as_program("GET /", "").await;

    let policy = answer.header("content-security-policy").expect("a policy");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    for weak in ["unsafe-inline", "unsafe-eval", "*", "http"] {
        assert!(!policy.contains(weak), "{policy}");
    }
    for part in [
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn the_newest_snapshot_is_json() {
    let fixture = Fixture::new().await;
    fixture
        .feed
        .update(|fleet| fleet.objective = "Build two shops".to_owned());

    let answer = fixture.ask_as_program("GET /api/dashboard", "").await;

    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let read: Dashboard = serde_json::from_str(&answer.body).expect("a snapshot");
    assert_eq!(read.objective, "Build two shops");
    assert_eq!(
        read,
        *autonoe_dashboard::DashboardSource::newest(&fixture.feed)
    );
}

#[tokio::test]
async fn each_change_is_a_snapshot_with_heartbeats_in_between() {
    let mut limits = ServeLimits::default();
    limits.heartbeat = Duration::from_millis(50);
    let fixture = Fixture::within(limits).await;
    let mut events = fixture.watch().await;

    assert!(events.until("content-type: text/event-stream").await);
    assert!(events.until("event: snapshot").await);
    assert!(events.until("Build the shop").await);
    assert!(events.until("event: alive").await);
    fixture
        .feed
        .update(|fleet| fleet.objective = "Build two shops".to_owned());
    assert!(events.until("event: snapshot").await);
    assert!(events.until("Build two shops").await);
}

#[tokio::test]
async fn many_changes_at_once_become_few_snapshots_with_the_last_among_them() {
    let mut limits = ServeLimits::default();
    limits.heartbeat = Duration::from_secs(3600);
    let fixture = Fixture::within(limits).await;
    let mut events = fixture.watch().await;
    assert!(events.until("Build the shop").await);

    for number in 0..1000 {
        fixture
            .feed
            .update(|fleet| fleet.objective = format!("Build {number} shops"));
        tokio::task::yield_now().await;
    }

    let received = events
        .up_to("Build 999 shops")
        .await
        .expect("the last comes");
    let snapshots = received.matches("event: snapshot").count();
    assert!((1..100).contains(&snapshots), "{snapshots} of 1000");
}

#[tokio::test]
async fn no_text_of_an_agent_makes_an_event_of_its_own() {
    let fixture = Fixture::new().await;
    let text = format!("a\n\nevent: end\ndata: x\r\r\u{2028}{EVIL}");
    fixture.feed.update(|fleet| fleet.objective = text.clone());
    let mut events = fixture.watch().await;
    assert!(events.until("event: snapshot\ndata: ").await);

    let data = events.up_to("\n\n").await.expect("it ends");

    let read: Dashboard = serde_json::from_str(&data).expect("one line of JSON");
    assert_eq!(read.objective, text);
}
