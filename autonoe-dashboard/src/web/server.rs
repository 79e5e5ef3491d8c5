//! The port, and the connections to it.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
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

use super::connection_pool::{ConnectionPool, PooledConnection};
use super::exchange::{Desk, answer};
use super::folder::folder;
use super::{ServeLimits, ViewToken};
use crate::{DashboardSource, FleetIntent};

/// How long it waits when the system has no more room for connections.
const BREATH: Duration = Duration::from_millis(50);

/// The least that the library takes for a head.
const LEAST_HEAD: usize = 8 * 1024;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Others than this machine could reach it.
    #[error("the dashboard is for this machine only, and {0} is not a loopback address")]
    NotLoopback(SocketAddr),
    /// The port cannot be asked where it is.
    #[error("the port of the dashboard cannot be used")]
    Port(#[source] io::Error),
}

/// Serves the page on a port of this machine, until the returned server is dropped or shut down.
///
/// What a person asks for goes to `intents`. It must be called in a runtime of tokio.
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
    serve_within(ServeLimits::default(), listener, token, source, intents)
}

/// The same with limits of the caller.
///
/// # Errors
///
/// As [`serve`].
pub fn serve_within(
    limits: ServeLimits,
    listener: TcpListener,
    token: ViewToken,
    source: impl DashboardSource + 'static,
    intents: mpsc::Sender<FleetIntent>,
) -> Result<DashboardServer, ServeError> {
    let address = listener.local_addr().map_err(ServeError::Port)?;
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    let ending = CancellationToken::new();
    let server = DashboardServer {
        address,
        token: token.clone(),
        closing: limits.closing,
        connections: TaskTracker::new(),
        ending: ending.clone(),
        over: CancellationToken::new(),
    };
    let desk = Arc::new(Desk {
        folder: folder(&token),
        token,
        source: Arc::new(source),
        intents,
        streams: Arc::new(Semaphore::new(limits.streams)),
        limits,
        ending,
    });
    let accepting = accept(
        listener,
        desk,
        server.connections.clone(),
        server.over.clone(),
    );
    server.connections.spawn(accepting);
    Ok(server)
}

/// A served page. Dropping it ends it at once.
#[derive(Debug)]
pub struct DashboardServer {
    address: SocketAddr,
    token: ViewToken,
    closing: Duration,
    connections: TaskTracker,
    /// Nothing new begins, and streams end.
    ending: CancellationToken,
    /// Everything ends.
    over: CancellationToken,
}

impl DashboardServer {
    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address for a browser, with the secret in it: to be shown to its user only.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token.reveal())
    }

    /// Ends it: the port is closed, pages that watch hear the end of their streams, and requests
    /// under way are answered, as long as that does not take too long.
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
    desk: Arc<Desk>,
    connections: TaskTracker,
    over: CancellationToken,
) {
    let limits = &desk.limits;
    let pool = ConnectionPool::new(limits.unauthenticated, limits.connections);
    while let Some(accepted) = desk.ending.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((connection, _)) => {
                let talk = talk(connection, desk.clone(), pool.add());
                let over = over.clone();
                connections.spawn(async move {
                    over.run_until_cancelled(talk).await;
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a connection could not be accepted");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

async fn talk(connection: TcpStream, desk: Arc<Desk>, place: PooledConnection) {
    tokio::select! {
        () = converse(connection, &desk, &place) => {}
        () = wait_to_refuse(&desk, &place) => {
            tracing::debug!("a connection for the dashboard has not shown the token in time");
        }
    }
}

/// Waits until a connection that has not shown the token must go.
async fn wait_to_refuse(desk: &Desk, place: &PooledConnection) {
    if timeout(desk.limits.head_time, place.evicted())
        .await
        .is_ok()
    {
        return;
    }
    if place.is_authenticated() {
        pending::<()>().await;
    }
}

async fn converse(connection: TcpStream, desk: &Desk, place: &PooledConnection) {
    let limits = &desk.limits;
    // Small events would wait for the other side's confirmation of the one before.
    let _ = connection.set_nodelay(true);
    let mut connection = TimeoutStream::new(connection);
    connection.set_write_timeout(Some(limits.write_time));
    let service =
        service_fn(
            |request| async move { Ok::<_, Infallible>(answer(desk, place, request).await) },
        );
    let mut served = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.read_time)
            .max_headers(limits.headers)
            .max_buf_size(limits.head_bytes.max(LEAST_HEAD))
            .serve_connection(TokioIo::new(Box::pin(connection)), service)
    );
    let ended = match desk.ending.run_until_cancelled(served.as_mut()).await {
        Some(ended) => ended,
        None => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        // Clients may leave at any time.
        tracing::debug!(%error, "a connection for the dashboard ended early");
    }
}
