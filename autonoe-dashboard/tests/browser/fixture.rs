//! Test fixture: a server with a fleet, and a browser.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use autonoe_dashboard::web::{DashboardServer, ViewToken, serve};
use autonoe_dashboard::{Dashboard, DashboardFeed, FleetIntent};
use autonoe_testkit::program::chromium::Chromium;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A server with a fleet, and a browser.
pub(crate) struct Fixture {
    pub(crate) server: DashboardServer,
    pub(crate) feed: DashboardFeed,
    pub(crate) intents: mpsc::Receiver<FleetIntent>,
    pub(crate) browser: Chromium,
}

/// Serves a feed at an address; with port 0, at a free port.
pub(crate) async fn serve_at(
    address: SocketAddr,
    feed: &DashboardFeed,
) -> (DashboardServer, mpsc::Receiver<FleetIntent>) {
    let (sender, intents) = mpsc::channel(16);
    let listener = TcpListener::bind(address).await.expect("a port");
    let token = ViewToken::new(SECRET).expect("long enough");
    let server = serve(listener, token, Arc::new(feed.clone()), sender);
    (server.expect("it serves"), intents)
}

impl Fixture {
    /// Serves a fleet; the browser has not opened the page yet.
    pub(crate) async fn start(fleet: Dashboard) -> Self {
        let feed = DashboardFeed::new(fleet);
        let (server, intents) = serve_at(([127, 0, 0, 1], 0).into(), &feed).await;
        Self {
            server,
            feed,
            intents,
            browser: Chromium::start(),
        }
    }

    /// Serves a fleet, and opens it in the browser.
    pub(crate) async fn seen(fleet: Dashboard) -> Self {
        let mut fixture = Self::start(fleet).await;
        fixture.browser.open(&fixture.server.url());
        fixture.browser.wait_for_text("live");
        fixture
    }

    /// Returns the URL without the secret.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/", self.server.address())
    }

    /// Returns the next intent.
    pub(crate) async fn next_intent(&mut self) -> FleetIntent {
        let intent = timeout(Duration::from_secs(120), self.intents.recv()).await;
        intent
            .expect("it is asked for in time")
            .expect("the server is there")
    }
}
