//! [`Proxy`]: a connection to the server that can be cut without closing it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Forwards bytes, until it drops them.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
    closed: CancellationToken,
}

impl Proxy {
    /// Opens a proxy to a port on loopback.
    pub async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("there is a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let closed = CancellationToken::new();
        let accepting = accept(listener, server, is_cut.clone(), closed.clone());
        tokio::spawn(closed.clone().run_until_cancelled_owned(accepting));
        Self {
            port,
            is_cut,
            closed,
        }
    }

    /// Drops all bytes from now on, without closing connections.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }

    /// Returns the address of the proxy.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Closes all connections.
    pub fn close(self) {
        self.closed.cancel();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

async fn accept(
    listener: TcpListener,
    server: u16,
    is_cut: Arc<AtomicBool>,
    closed: CancellationToken,
) {
    while let Ok((client, _)) = listener.accept().await {
        let is_cut = is_cut.clone();
        let joining = async move {
            if let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await {
                join(client, server, &is_cut).await;
            }
        };
        tokio::spawn(closed.clone().run_until_cancelled_owned(joining));
    }
}

async fn join(client: TcpStream, server: TcpStream, is_cut: &AtomicBool) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::join!(
        pass(from_client, to_server, is_cut),
        pass(from_server, to_client, is_cut),
    );
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    is_cut: &AtomicBool,
) {
    let mut piece = [0; 16 * 1024];
    loop {
        let Ok(length @ 1..) = from.read(&mut piece).await else {
            return;
        };
        if is_cut.load(Ordering::Relaxed) {
            continue;
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
