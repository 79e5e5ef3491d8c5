//! Sessions and clients that one port serves, and the TCP listener of that port.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::handler::answer;
use crate::protocol::{Calls, RequestHandler};
use crate::token::Token;

/// Sessions that one port serves, by the number in their URL.
///
/// The number is not a secret. It selects the session whose secret a request must carry.
#[derive(Default)]
pub(super) struct Sessions {
    served: Mutex<HashMap<u64, Arc<Served>>>,
    next: AtomicU64,
}

/// A served session.
pub(super) struct Served {
    pub(super) token: Token,
    pub(super) handler: Arc<RequestHandler>,
    pub(super) clients: Clients,
}

impl Sessions {
    fn add(&self, served: Served) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.lock().insert(number, Arc::new(served));
        number
    }

    fn remove(&self, number: u64) {
        if let Some(served) = self.lock().remove(&number) {
            served.handler.close();
        }
    }

    /// Returns the session at the URL path `path`.
    pub(super) fn find(&self, path: &str) -> Option<Arc<Served>> {
        let number = path.strip_prefix("/sessions/")?.strip_suffix("/mcp")?;
        self.lock().get(&number.parse().ok()?).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Served>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a session until dropped, and keeps the port open.
pub(super) struct Registration {
    listener: Arc<Listener>,
    number: u64,
    visited: Arc<AtomicBool>,
}

impl Registration {
    pub(super) fn new(
        listener: Arc<Listener>,
        session: SessionKey,
        tools: Toolbox,
        token: Token,
    ) -> Self {
        let clients = Clients::default();
        let visited = clients.visited();
        let number = listener.sessions().add(Served {
            token,
            handler: Arc::new(RequestHandler::new(session, tools)),
            clients,
        });
        Self {
            listener,
            number,
            visited,
        }
    }

    /// Returns a flag that becomes `true` when a client with the secret connects.
    pub(super) fn visited(&self) -> Arc<AtomicBool> {
        self.visited.clone()
    }

    pub(super) fn url(&self) -> String {
        let (address, number) = (self.listener.address(), self.number);
        format!("http://{address}/sessions/{number}/mcp")
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.listener.sessions().remove(self.number);
    }
}

/// Maximum number of remembered clients of one session.
const MAX_CLIENTS: usize = 64;

/// Clients of one session, by their assigned IDs.
///
/// An agent may start several clients, for example for its sub-agents, and each of them numbers its
/// calls from one. A cancellation therefore applies to the calls of its own client only.
#[derive(Default)]
pub(super) struct Clients {
    /// Initialized clients, oldest first.
    initialized: Mutex<VecDeque<(String, Arc<Calls>)>>,
    /// Calls of all clients that sent no ID.
    anonymous: Arc<Calls>,
    /// Whether any client has connected.
    visited: Arc<AtomicBool>,
}

impl Clients {
    /// Adds an initialized client. Above the limit, the oldest client without a running call is
    /// removed. If all clients have running calls, the oldest one is removed and its calls are
    /// cancelled. The next request of a removed client is answered with "not found", so the client
    /// initializes again.
    pub(super) fn add(&self, id: String) {
        self.visited.store(true, Ordering::Release);
        let mut initialized = self.lock();
        if initialized.len() >= MAX_CLIENTS {
            let idle = initialized.iter().position(|(_, calls)| calls.is_idle());
            let forgotten = initialized.remove(idle.unwrap_or_default());
            if let Some((_, calls)) = forgotten {
                calls.cancel_all();
            }
        }
        initialized.push_back((id, Arc::default()));
    }

    /// Returns a flag that becomes `true` when a client connects.
    pub(super) fn visited(&self) -> Arc<AtomicBool> {
        self.visited.clone()
    }

    /// Returns the calls of a client, or `None` if its ID is unknown.
    pub(super) fn calls(&self, id: Option<&[u8]>) -> Option<Arc<Calls>> {
        self.visited.store(true, Ordering::Release);
        let Some(id) = id else {
            return Some(self.anonymous.clone());
        };
        let initialized = self.lock();
        let found = initialized.iter().find(|(known, _)| known.as_bytes() == id);
        found.map(|(_, calls)| calls.clone())
    }

    /// Removes a client and cancels its calls. Returns whether the client was known.
    pub(super) fn remove(&self, id: &[u8]) -> bool {
        let mut initialized = self.lock();
        let place = initialized
            .iter()
            .position(|(known, _)| known.as_bytes() == id);
        let removed = place.and_then(|place| initialized.remove(place));
        if let Some((_, calls)) = &removed {
            calls.cancel_all();
        }
        removed.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Arc<Calls>)>> {
        self.initialized
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Delay before the next `accept` after a failure, such as too many open files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Minimum buffer size for a request head that hyper allows.
const MIN_HEAD_BYTES: usize = 8 * 1024;

/// Open loopback port. Dropping it closes the port and its connections.
pub(super) struct Listener {
    address: SocketAddr,
    sessions: Arc<Sessions>,
    accepting: JoinHandle<()>,
    stop: CancellationToken,
}

impl Listener {
    pub(super) async fn open(limits: HttpLimits) -> io::Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = port.local_addr()?;
        let sessions = Arc::new(Sessions::default());
        let stop = CancellationToken::new();
        let accepting = tokio::spawn(accept(port, sessions.clone(), limits, stop.clone()));
        Ok(Self {
            address,
            sessions,
            accepting,
            stop,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(super) fn is_open(&self) -> bool {
        !self.accepting.is_finished()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.cancel();
        self.accepting.abort();
    }
}

async fn accept(
    port: TcpListener,
    sessions: Arc<Sessions>,
    limits: HttpLimits,
    stop: CancellationToken,
) {
    let limits = Arc::new(limits);
    let room = Arc::new(Semaphore::new(limits.connections));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else {
            return;
        };
        match port.accept().await {
            Ok((connection, _)) => {
                let connection =
                    handle_connection(connection, sessions.clone(), limits.clone(), permit);
                let stop = stop.clone();
                tokio::spawn(async move {
                    stop.run_until_cancelled(connection).await;
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

async fn handle_connection(
    connection: TcpStream,
    sessions: Arc<Sessions>,
    limits: Arc<HttpLimits>,
    _permit: OwnedSemaphorePermit,
) {
    let service = service_fn(|request| {
        let (sessions, limits) = (sessions.clone(), limits.clone());
        async move { Ok::<_, Infallible>(answer(&sessions, &limits, request).await) }
    });
    // Without this, Nagle's algorithm and delayed ACKs hold back small messages.
    let _ = connection.set_nodelay(true);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.read_time)
        .max_headers(limits.headers)
        .max_buf_size(limits.head_bytes.max(MIN_HEAD_BYTES))
        .serve_connection(TokioIo::new(connection), service);
    if let Err(error) = served.await {
        // Clients may disconnect at any time.
        tracing::debug!(%error, "a connection to the tool server ended early");
    }
}

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

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;

    use super::*;

    #[test]
    fn a_session_is_found_at_its_address_and_nowhere_else() {
        let sessions = Sessions::default();
        let session = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let number = sessions.add(Served {
            token: Token::random().expect("there is randomness"),
            handler: Arc::new(RequestHandler::new(session, Toolbox::new([]))),
            clients: Clients::default(),
        });

        assert!(sessions.find(&format!("/sessions/{number}/mcp")).is_some());
        for path in [
            "/",
            "/mcp",
            "/sessions//mcp",
            "/sessions/2/mcp",
            "/sessions/1/mcp/",
        ] {
            assert!(sessions.find(path).is_none(), "{path}");
        }
        sessions.remove(number);
        assert!(sessions.find(&format!("/sessions/{number}/mcp")).is_none());
    }

    #[test]
    fn a_client_is_known_until_it_leaves() {
        let clients = Clients::default();
        clients.add("a".into());

        assert!(clients.calls(Some(b"a")).is_some());
        assert!(clients.calls(Some(b"b")).is_none());
        assert!(clients.calls(None).is_some());
        assert!(clients.remove(b"a"));
        assert!(!clients.remove(b"a"));
        assert!(clients.calls(Some(b"a")).is_none());
    }

    #[test]
    fn the_oldest_client_is_evicted_at_the_limit() {
        let clients = Clients::default();
        for number in 0..=MAX_CLIENTS {
            clients.add(number.to_string());
        }

        assert!(clients.calls(Some(b"0")).is_none());
        assert!(clients.calls(Some(b"1")).is_some());
        let last = MAX_CLIENTS.to_string();
        assert!(clients.calls(Some(last.as_bytes())).is_some());
    }
}
