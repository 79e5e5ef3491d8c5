//! [`HttpLimits`]: limits of the tool server.

use std::time::Duration;

/// Size, count and time limits of an [`HttpToolServer`](super::HttpToolServer).
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
    /// Maximum length of one message in bytes. Default: 4 MiB.
    pub body_bytes: usize,
    /// Maximum length of all headers of a request together, in bytes. Default: 16 KiB; values below
    /// 8 KiB act as 8 KiB.
    pub head_bytes: usize,
    /// Maximum number of headers of a request. Default: 64.
    pub headers: usize,
    /// Maximum number of concurrent connections; further ones wait. Default: 512.
    pub connections: usize,
    /// Maximum time for a request to arrive, and for a connection to be idle. Default: 60 seconds.
    pub read_time: Duration,
    /// Interval of keep-alive comments on the event stream of a long call. Default: 15 seconds.
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
