//! Tests of the requests about a run.

use autonoe_dashboard::web::{Exposure, ServeError, ServeLimits, Site, ViewToken};
use autonoe_dashboard::{
    Dashboard, DashboardFeed, RunFeed, RunIntent, RunPage, RunPageAction, RunPagePhase,
};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::web::fixture::{Fixture, SECRET};

/// Serves a run without a fleet.
async fn serve_run(
    exposure: Exposure,
    address: &str,
) -> (Fixture, RunFeed, mpsc::Receiver<RunIntent>) {
    let feed = RunFeed::new(RunPage {
        version: 1,
        phase: RunPagePhase::Running,
        actions: vec![RunPageAction::Pause, RunPageAction::Instruct],
        document: "<!DOCTYPE html><p data-part=\"a\">the document</p>".into(),
        ..RunPage::new("shop")
    });
    let (intents, run_intents) = mpsc::channel(1);
    let listener = TcpListener::bind(address).await.expect("a port");
    let token = ViewToken::new(SECRET).expect("long enough");
    let site = Site::new().run(&feed, intents).style("p { color: red; }");
    let server = site.serve(listener, token, exposure, ServeLimits::default());
    let (_, fleet_intents) = mpsc::channel(1);
    let fixture = Fixture {
        server: server.expect("it serves"),
        feed: DashboardFeed::new(Dashboard::new("", "")),
        intents: fleet_intents,
    };
    (fixture, feed, run_intents)
}

#[tokio::test]
async fn the_state_and_the_document_of_a_run_are_served() {
    let (fixture, _feed, _run_intents) = serve_run(Exposure::Loopback, "127.0.0.1:0").await;

    let state = fixture.ask_as_program("GET /api/run", "").await;
    let document = fixture.ask_as_program("GET /run.html", "").await;
    let page = fixture.ask_as_program("GET /", "").await;
    let fleet = fixture.ask_as_program("GET /api/dashboard", "").await;

    let json: Value = serde_json::from_str(&state.body).expect("JSON");
    assert_eq!(
        (state.status, &json["phase"]),
        (200, &Value::from("running"))
    );
    assert!(json["document"].is_null(), "{json}");
    assert!(document.body.contains("the document"), "{}", document.body);
    assert_eq!(
        document.header("content-security-policy"),
        Some("default-src 'none'; frame-ancestors 'none'")
    );
    assert!(page.body.contains("p { color: red; }"));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(
        policy.contains("style-src-attr 'unsafe-inline'"),
        "{policy}"
    );
    assert!(!policy.contains("script-src 'unsafe-inline'"), "{policy}");
    assert_eq!(fleet.status, 404);
}

#[tokio::test]
async fn an_action_is_sent_only_if_the_run_accepts_it_now() {
    let (fixture, feed, mut run_intents) = serve_run(Exposure::Loopback, "127.0.0.1:0").await;

    let message = fixture
        .ask_as_program("POST /api/run/instruct", r#"{"text": "Use tabs."}"#)
        .await;
    let full = fixture.ask_as_program("POST /api/run/pause", "").await;
    let sent = run_intents.recv().await.expect("a message");
    let stop = fixture.ask_as_program("POST /api/run/stop", "").await;
    let kill = fixture.ask_as_program("POST /api/run/kill", "").await;
    let blank = fixture
        .ask_as_program("POST /api/run/instruct", r#"{"text": " "}"#)
        .await;
    feed.push(RunPage::new("shop"));
    let late = fixture.ask_as_program("POST /api/run/pause", "").await;

    assert_eq!(message.status, 202);
    let expected = RunIntent {
        action: RunPageAction::Instruct,
        text: "Use tabs.".to_owned(),
    };
    assert_eq!(sent, expected);
    assert_eq!(full.status, 503);
    assert_eq!(stop.status, 409);
    assert!(stop.body.contains("cannot stop this run: it is running"));
    assert_eq!((kill.status, blank.status, late.status), (404, 400, 409));
    assert!(run_intents.try_recv().is_err());
}

#[tokio::test]
async fn each_change_of_the_run_is_an_event() {
    let (fixture, feed, _run_intents) = serve_run(Exposure::Loopback, "127.0.0.1:0").await;
    let mut events = fixture.watch().await;
    assert!(events.until("event: run").await);
    assert!(events.until("\"phase\":\"running\"").await);

    feed.push(RunPage {
        phase: RunPagePhase::Done,
        ..RunPage::new("shop")
    });

    assert!(events.until("\"phase\":\"done\"").await);
}

#[tokio::test]
async fn a_run_can_neither_be_read_nor_controlled_without_the_token() {
    let (fixture, _feed, mut run_intents) = serve_run(Exposure::Loopback, "127.0.0.1:0").await;

    for line in ["GET /api/run", "GET /run.html", "POST /api/run/pause"] {
        let line = format!("{line} HTTP/1.1");
        let answer = fixture.request(&[&line, "Host: {host}"], "").await;
        assert_eq!(answer.status, 401, "{line}");
    }
    let foreign = [
        "POST /api/run/pause HTTP/1.1",
        "Host: evil.example",
        "Authorization: Bearer {secret}",
    ];
    assert_eq!(fixture.request(&foreign, "").await.status, 403);
    assert!(run_intents.try_recv().is_err());
}

#[tokio::test]
async fn the_network_needs_an_explicit_choice() {
    let listener = TcpListener::bind("0.0.0.0:0").await.expect("a port");
    let token = ViewToken::new(SECRET).expect("long enough");
    let refused = Site::new().serve(listener, token, Exposure::Loopback, ServeLimits::default());
    assert!(matches!(refused, Err(ServeError::NotLoopback(_))));

    let names = vec!["desk.example".to_owned()];
    let (fixture, _feed, _run_intents) =
        serve_run(Exposure::Network { names }, "127.0.0.1:0").await;
    for (host, status) in [
        ("192.168.0.7:80", 200),
        ("desk.example", 200),
        ("evil.example", 403),
    ] {
        let host = format!("Host: {host}");
        let head = [
            "GET /api/run HTTP/1.1",
            host.as_str(),
            "Authorization: Bearer {secret}",
        ];
        assert_eq!(fixture.request(&head, "").await.status, status, "{host}");
    }
}
