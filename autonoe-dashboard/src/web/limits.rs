//! How much a server takes.

use std::time::Duration;

/// How much a [`DashboardServer`](super::DashboardServer) takes, and how long it waits.
///
/// ```
/// use autonoe_dashboard::web::ServeLimits;
///
/// let mut limits = ServeLimits::default();
/// limits.streams = 4;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeLimits {
    /// How long the body of a request may be. 64 KiB.
    pub body_bytes: usize,
    /// How long the head of a request may be. 16 KiB, and at least 8 KiB.
    pub head_bytes: usize,
    /// How many headers a request may have. 64.
    pub headers: usize,
    /// How many connections that have shown the token there may be at a time; others get 503. 128.
    pub connections: usize,
    /// How many other connections there may be at a time. A new one closes the oldest. 64.
    pub unauthenticated: usize,
    /// How many pages may watch at a time; others are told to come back. 32.
    pub streams: usize,
    /// How long a connection may take to show the token. 5 seconds.
    pub head_time: Duration,
    /// How long a request may take to arrive, and a connection that has shown the token may be idle. 30 seconds.
    pub read_time: Duration,
    /// How long the other side may read nothing of what is sent. 30 seconds.
    pub write_time: Duration,
    /// How often a page hears that the server is alive. 10 seconds; pages give up after 35.
    pub heartbeat: Duration,
    /// How long at least lies between two snapshots of a page. 200 milliseconds.
    pub pace: Duration,
    /// How long connections may take to end when the server does. 2 seconds.
    pub closing: Duration,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            body_bytes: 64 * 1024,
            head_bytes: 16 * 1024,
            headers: 64,
            connections: 128,
            unauthenticated: 64,
            streams: 32,
            head_time: Duration::from_secs(5),
            read_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            heartbeat: Duration::from_secs(10),
            pace: Duration::from_millis(200),
            closing: Duration::from_secs(2),
        }
    }
}
