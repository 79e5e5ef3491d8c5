//! HTTP listener on its own thread.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::RequestLog;
use super::api::ModelApi;
use super::connection::{self, Server};

/// Serves an API on a free port of the loopback address until it is dropped.
///
/// It has its own thread and runtime: a test may block, pause the time of its runtime, or have no
/// runtime.
#[derive(Debug)]
pub(super) struct Listener {
    address: SocketAddr,
    stopped: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Starts serving `api`. Once this returns, clients can connect.
    pub(super) fn start<A: ModelApi>(api: A) -> io::Result<(Self, RequestLog<A::Request>)> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let socket = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let socket = {
            let _inside = runtime.enter();
            TcpListener::from_std(socket)?
        };
        let log = RequestLog::new(runtime.handle().clone());
        let stopped = CancellationToken::new();
        let server = Arc::new(Server {
            api,
            log: log.clone(),
            stopped: stopped.clone(),
        });

        let thread = std::thread::Builder::new()
            .name("scripted-model-server".to_owned())
            .spawn(move || runtime.block_on(accept(server, socket)))?;
        let listener = Self {
            address,
            stopped,
            thread: Some(thread),
        };
        Ok((listener, log))
    }

    /// Returns the listening address.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes every connection and waits until the thread has ended.
    pub(super) fn stop(&mut self) {
        self.stopped.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed, and its exchange is recorded as stopped.
            let _ = thread.join();
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn accept<A: ModelApi>(server: Arc<Server<A>>, socket: TcpListener) {
    let stopped = server.stopped.clone();
    let serve = async {
        loop {
            match socket.accept().await {
                Ok((stream, _)) => {
                    // Sends the pieces of a stream without delay.
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(connection::serve(server.clone(), stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "a scripted model server could not accept a client");
                    tokio::task::yield_now().await;
                }
            }
        }
    };
    stopped.run_until_cancelled(serve).await;
}
