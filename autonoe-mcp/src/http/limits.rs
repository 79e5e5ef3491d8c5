//! How much a server takes.

use std::time::Duration;

/// How much an [`HttpToolServer`](super::HttpToolServer) takes, and how long it waits.
///
/// ```
/// use autonoe_mcp::HttpLimits;
///
/// let mut limits = HttpLimits::default();
/// limits.body_bytes = 64 * 1024;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpLimits {
    /// How long one message may be. 4 MiB.
    pub body_bytes: usize,
    /// How long the head of a request may be, all headers together. 16 KiB, and at least 8 KiB.
    pub head_bytes: usize,
    /// How many headers a request may have. 64.
    pub headers: usize,
    /// How many connections there may be at a time; others wait. 512.
    pub connections: usize,
    /// How long a request may take to arrive, and a connection may be idle. 60 seconds.
    pub read_time: Duration,
    /// How often a connection whose call takes long is told that it is still alive. 15 seconds.
    pub keep_alive: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 4 * 1024 * 1024,
            head_bytes: 16 * 1024,
            headers: 64,
            connections: 512,
            read_time: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
        }
    }
}
