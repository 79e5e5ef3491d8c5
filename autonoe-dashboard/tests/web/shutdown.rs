//! Tests of server shutdown and restart.

use std::sync::Arc;
use std::time::Duration;

use autonoe_dashboard::web::{ServeLimits, ViewToken, serve};
use autonoe_dashboard::{Dashboard, DashboardSource};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::web::fixture::{Fixture, PATIENCE, SECRET};

#[tokio::test]
async fn a_shutdown_ends_streams_and_closes_the_port() {
    let fixture = Fixture::new().await;
    let address = fixture.server.address();
    let mut events = fixture.watch().await;
    assert!(events.until("event: snapshot").await);

    let Fixture { server, feed, .. } = fixture;
    let ended = timeout(PATIENCE, server.shutdown()).await;

    ended.expect("it ends in time");
    assert!(!events.until("never sent").await, "the stream has ended");
    assert!(TcpStream::connect(address).await.is_err());

    // The same port can serve again at once.
    let listener = TcpListener::bind(address).await.expect("it is free");
    let token = ViewToken::new(SECRET).expect("long enough");
    let (intents, _receiver) = mpsc::channel(1);
    let server = serve(listener, token, Arc::new(feed), intents).expect("it serves");
    assert_eq!(server.address(), address);
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_that_does_not_go_is_not_waited_for() {
    let mut limits = ServeLimits::default();
    limits.shutdown_grace = Duration::from_millis(100);
    let fixture = Fixture::within(limits).await;
    let long = "x".repeat(16 * 1024 * 1024);
    fixture.feed.update(|fleet| fleet.objective = long);
    let mut stalled = fixture.watch().await;
    assert!(stalled.until("event: snapshot").await);

    let ended = timeout(PATIENCE, fixture.server.shutdown()).await;

    ended.expect("it ends in time");
    assert!(!stalled.until("never sent").await);
}

#[tokio::test]
async fn dropping_the_server_closes_streams_and_port() {
    let fixture = Fixture::new().await;
    let address = fixture.server.address();
    let mut events = fixture.watch().await;
    assert!(events.until("event: snapshot").await);

    drop(fixture);

    assert!(!events.until("never sent").await);
    let closed = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, closed).await.expect("it is closed");
}

/// A source whose sender can be dropped.
struct Watched(watch::Receiver<Arc<Dashboard>>);

impl DashboardSource for Watched {
    fn watch(&self) -> watch::Receiver<Arc<Dashboard>> {
        self.0.clone()
    }
}

#[tokio::test]
async fn end_event_is_sent_and_last_snapshot_stays() {
    let mut limits = ServeLimits::default();
    limits.heartbeat = Duration::from_millis(20);
    let mut fixture = Fixture::within(limits.clone()).await;
    let (sender, receiver) = watch::channel(Arc::new(Dashboard::new("The last", "race")));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let token = ViewToken::new(SECRET).expect("long enough");
    let (intents, _receiver) = mpsc::channel(1);
    let source = Arc::new(Watched(receiver));
    let server =
        autonoe_dashboard::web::serve_with_limits(limits, listener, token, source, intents);
    fixture.server = server.expect("it serves");
    let mut events = fixture.watch().await;
    assert!(events.until("The last").await);

    drop(sender);

    assert!(events.until("event: end").await);
    assert!(
        events.until("event: alive").await,
        "the server is still there"
    );
    let answer = fixture.ask_as_program("GET /api/dashboard", "").await;
    assert!(answer.body.contains("The last"), "{answer:?}");
}
