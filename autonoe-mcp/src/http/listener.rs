//! The port, and the connections to it.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::exchange::answer;
use super::sessions::Sessions;

/// How long it waits when the system has no more room for connections.
const BREATH: Duration = Duration::from_millis(50);

/// The least that the library takes for a head.
const LEAST_HEAD: usize = 8 * 1024;

/// A port of this machine, open until this is dropped.
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
                let talk = talk(connection, sessions.clone(), limits.clone(), permit);
                let stop = stop.clone();
                tokio::spawn(async move {
                    stop.run_until_cancelled(talk).await;
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a connection could not be accepted");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

async fn talk(
    connection: TcpStream,
    sessions: Arc<Sessions>,
    limits: Arc<HttpLimits>,
    _permit: OwnedSemaphorePermit,
) {
    let service = service_fn(|request| {
        let (sessions, limits) = (sessions.clone(), limits.clone());
        async move { Ok::<_, Infallible>(answer(&sessions, &limits, request).await) }
    });
    // Small messages that wait for each other would each wait for the other side's confirmation.
    let _ = connection.set_nodelay(true);
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.read_time)
        .max_headers(limits.headers)
        .max_buf_size(limits.head_bytes.max(LEAST_HEAD))
        .serve_connection(TokioIo::new(connection), service);
    if let Err(error) = served.await {
        // Clients may leave at any time.
        tracing::debug!(%error, "a connection for tools ended early");
    }
}

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
