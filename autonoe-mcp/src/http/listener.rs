//! [`Listener`]: an open port that serves sessions, and the [`Registration`] of a session at it.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
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
use super::limits::HttpLimits;
use super::sessions::{Clients, Served, Sessions};
use crate::protocol::RequestHandler;
use crate::token::Token;

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
