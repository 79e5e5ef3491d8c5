//! Test fixture: a server with a fleet, and a client that sends raw bytes.

use std::sync::Arc;
use std::time::Duration;

use autonoe_dashboard::web::{DashboardServer, ServeLimits, ViewToken, serve_with_limits};
use autonoe_dashboard::{DashboardFeed, FleetIntent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::sample::fleet;

pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Folder of the cookie with that secret.
pub(crate) const FOLDER: &str = "/v/ce984ff68ba81af9fe61534142b7e310";

/// Time limit of each step on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server with a fleet.
pub(crate) struct Fixture {
    pub(crate) server: DashboardServer,
    pub(crate) feed: DashboardFeed,
    pub(crate) intents: mpsc::Receiver<FleetIntent>,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::within(ServeLimits::default()).await
    }

    pub(crate) async fn within(limits: ServeLimits) -> Self {
        let feed = DashboardFeed::new(fleet());
        let (sender, intents) = mpsc::channel(2);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let token = ViewToken::new(SECRET).expect("long enough");
        let source = Arc::new(feed.clone());
        let server = serve_with_limits(limits, listener, token, source, sender);
        Self {
            server: server.expect("it serves"),
            feed,
            intents,
        }
    }

    pub(crate) fn host(&self) -> String {
        self.server.address().to_string()
    }

    /// Opens a connection and sends a request, with `{host}` and `{secret}` filled in.
    pub(crate) async fn send(&self, request: &str) -> TcpStream {
        let request = request
            .replace("{host}", &self.host())
            .replace("{secret}", SECRET)
            .replace("{port}", &self.server.address().port().to_string())
            .replace("{folder}", FOLDER);
        let mut connection = TcpStream::connect(self.server.address())
            .await
            .expect("it listens");
        let sent = connection.write_all(request.as_bytes()).await;
        sent.expect("it reads");
        connection
    }

    /// Sends a request with these head lines, and returns the complete response.
    pub(crate) async fn request(&self, head: &[&str], body: &str) -> Answer {
        let head = head.join("\r\n");
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let request = format!("{head}\r\nConnection: close\r\n{length}\r\n{body}");
        let mut connection = self.send(&request).await;
        let mut bytes = Vec::new();
        let read = timeout(PATIENCE, connection.read_to_end(&mut bytes)).await;
        read.expect("it answers in time").expect("it answers");
        Answer::parse(&String::from_utf8(bytes).expect("it is text"))
    }

    /// Sends a request with the secret in a header.
    pub(crate) async fn ask_as_program(&self, line: &str, body: &str) -> Answer {
        let line = format!("{line} HTTP/1.1");
        let head = [
            line.as_str(),
            "Host: {host}",
            "Authorization: Bearer {secret}",
            "Content-Type: application/json",
        ];
        self.request(&head, body).await
    }

    /// Sends a request, and returns the connection to read from.
    pub(crate) async fn send_and_read(&self, request: &str) -> Events {
        Events {
            connection: self.send(request).await,
            read: String::new(),
        }
    }

    /// Opens an event stream.
    pub(crate) async fn watch(&self) -> Events {
        let head = "GET /api/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {secret}";
        self.send_and_read(&format!("{head}\r\n\r\n")).await
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            status: status.expect("it has a status"),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
    }
}

/// An event stream.
pub(crate) struct Events {
    connection: TcpStream,
    read: String,
}

impl Events {
    /// Reads until `expected` arrives; `false` if the stream ended before.
    pub(crate) async fn until(&mut self, expected: &str) -> bool {
        self.up_to(expected).await.is_some()
    }

    /// Reads until `expected` arrives, and returns everything up to there.
    pub(crate) async fn up_to(&mut self, expected: &str) -> Option<String> {
        let search = async {
            loop {
                if let Some(place) = self.read.find(expected) {
                    return Some(self.read.drain(..place + expected.len()).collect());
                }
                let mut bytes = [0; 4096];
                match self.connection.read(&mut bytes).await {
                    Ok(0) | Err(_) => return None,
                    Ok(read) => self.read.push_str(&String::from_utf8_lossy(&bytes[..read])),
                }
            }
        };
        timeout(PATIENCE, search).await.expect("it is sent in time")
    }
}
