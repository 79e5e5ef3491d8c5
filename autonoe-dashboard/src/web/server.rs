//! [`DashboardServer`]: listener of the web view.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::auth::folder;
use super::connection_pool::{ConnectionPool, PooledConnection};
use super::handler::{ServerState, answer};
use super::origin::Exposure;
use super::response::Page;
use super::site::Site;
use super::{ServeLimits, ViewToken};
use crate::{DashboardSource, FleetIntent};

/// Delay before the next `accept` after a failure, such as too many open files.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Minimum buffer size for a request head that hyper allows.
const MIN_HEAD_BYTES: usize = 8 * 1024;

/// Error of [`serve`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Other machines could reach the listener.
    #[error("the dashboard is for this machine only, and {0} is not a loopback address")]
    NotLoopback(SocketAddr),
    /// The local address of the listener cannot be read.
    #[error("the port of the dashboard cannot be used")]
    Port(#[source] io::Error),
}

/// Serves the page on a loopback port until the returned server is dropped or shut down.
///
/// The user's requests are sent to `intents`. Must be called in a Tokio runtime.
///
/// ```
/// use autonoe_dashboard::web::{ViewToken, serve};
/// use autonoe_dashboard::{Dashboard, DashboardFeed};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let feed = DashboardFeed::new(Dashboard::new("Build the shop", "parallel"));
/// let (intents, _carried_out) = tokio::sync::mpsc::channel(16);
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
///
/// let server = serve(listener, ViewToken::random()?, feed, intents)?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
///
/// server.shutdown().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`ServeError::NotLoopback`] if other machines could reach the listener.
pub fn serve(
    listener: TcpListener,
    token: ViewToken,
    source: impl DashboardSource + 'static,
    intents: mpsc::Sender<FleetIntent>,
) -> Result<DashboardServer, ServeError> {
    serve_with_limits(ServeLimits::default(), listener, token, source, intents)
}

/// Like [`serve`], with limits of the caller.
///
/// # Errors
///
/// Same as [`serve`].
pub fn serve_with_limits(
    limits: ServeLimits,
    listener: TcpListener,
    token: ViewToken,
    source: impl DashboardSource + 'static,
    intents: mpsc::Sender<FleetIntent>,
) -> Result<DashboardServer, ServeError> {
    let site = Site::new().fleet(source, intents);
    start(site, listener, token, Exposure::Loopback, limits)
}

impl Site {
    /// Serves the site until the returned server is dropped or shut down. Must be called in a Tokio
    /// runtime.
    ///
    /// # Errors
    ///
    /// [`ServeError::NotLoopback`] if other machines could reach the listener, and `exposure` does
    /// not allow it.
    pub fn serve(
        self,
        listener: TcpListener,
        token: ViewToken,
        exposure: Exposure,
        limits: ServeLimits,
    ) -> Result<DashboardServer, ServeError> {
        start(self, listener, token, exposure, limits)
    }
}

fn start(
    site: Site,
    listener: TcpListener,
    token: ViewToken,
    exposure: Exposure,
    limits: ServeLimits,
) -> Result<DashboardServer, ServeError> {
    let address = listener.local_addr().map_err(ServeError::Port)?;
    if exposure == Exposure::Loopback && !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    let ending = CancellationToken::new();
    let server = DashboardServer {
        address,
        token: token.clone(),
        closing: limits.shutdown_grace,
        connections: TaskTracker::new(),
        ending: ending.clone(),
        over: CancellationToken::new(),
    };
    let state = Arc::new(ServerState {
        folder: folder(&token),
        token,
        page: Page::new(&site.style),
        site,
        exposure,
        streams: Arc::new(Semaphore::new(limits.streams)),
        limits,
        ending,
    });
    let accepting = accept(
        listener,
        state,
        server.connections.clone(),
        server.over.clone(),
    );
    server.connections.spawn(accepting);
    Ok(server)
}

/// A running web server. Dropping it stops it at once.
#[derive(Debug)]
pub struct DashboardServer {
    address: SocketAddr,
    token: ViewToken,
    closing: Duration,
    connections: TaskTracker,
    /// Stops accepting connections and ends streams.
    ending: CancellationToken,
    /// Aborts all connections.
    over: CancellationToken,
}

impl DashboardServer {
    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL for a browser. It contains the token: show it to its user only.
    ///
    /// A server that listens on all addresses has the loopback address in its URL.
    pub fn url(&self) -> String {
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("http://{address}/?token={}", self.token.reveal())
    }

    /// Returns the URL for a browser that addresses the server as `host`, a name or an address.
    pub fn url_for(&self, host: &str) -> String {
        let (port, token) = (self.address.port(), self.token.reveal());
        format!("http://{host}:{port}/?token={token}")
    }

    /// Shuts down gracefully: closes the port, ends the event streams of watching pages and answers
    /// running requests. Connections that exceed the grace period are aborted.
    pub async fn shutdown(self) {
        self.ending.cancel();
        self.connections.close();
        if timeout(self.closing, self.connections.wait())
            .await
            .is_err()
        {
            self.over.cancel();
            self.connections.wait().await;
        }
    }
}

impl Drop for DashboardServer {
    fn drop(&mut self) {
        self.ending.cancel();
        self.over.cancel();
    }
}

async fn accept(
    listener: TcpListener,
    state: Arc<ServerState>,
    connections: TaskTracker,
    over: CancellationToken,
) {
    let limits = &state.limits;
    let pool = ConnectionPool::new(limits.unauthenticated, limits.connections);
    while let Some(accepted) = state.ending.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((connection, _)) => {
                let connection = handle_connection(connection, state.clone(), pool.add());
                let over = over.clone();
                connections.spawn(async move {
                    over.run_until_cancelled(connection).await;
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
    state: Arc<ServerState>,
    place: PooledConnection,
) {
    tokio::select! {
        () = serve_requests(connection, &state, &place) => {}
        () = wait_to_refuse(&state, &place) => {
            tracing::debug!("a connection for the dashboard did not send the token in time");
        }
    }
}

/// Waits until an unauthenticated connection must be closed.
async fn wait_to_refuse(state: &ServerState, place: &PooledConnection) {
    if timeout(state.limits.head_time, place.evicted())
        .await
        .is_ok()
    {
        return;
    }
    if place.is_authenticated() {
        pending::<()>().await;
    }
}

async fn serve_requests(connection: TcpStream, state: &ServerState, place: &PooledConnection) {
    let limits = &state.limits;
    // Without this, Nagle's algorithm and delayed ACKs hold back small events.
    let _ = connection.set_nodelay(true);
    let mut connection = TimeoutStream::new(connection);
    connection.set_write_timeout(Some(limits.write_time));
    let service =
        service_fn(
            |request| async move { Ok::<_, Infallible>(answer(state, place, request).await) },
        );
    let mut served = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.read_time)
            .max_headers(limits.headers)
            .max_buf_size(limits.head_bytes.max(MIN_HEAD_BYTES))
            .serve_connection(TokioIo::new(Box::pin(connection)), service)
    );
    let ended = match state.ending.run_until_cancelled(served.as_mut()).await {
        Some(ended) => ended,
        None => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        // Clients may disconnect at any time.
        tracing::debug!(%error, "a connection for the dashboard ended early");
    }
}
