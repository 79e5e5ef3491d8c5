//! Server that plays a script, and its HTTP listener on a thread of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::api::{ModelApi, Vendor};
use super::connection::{self, Server};
use super::script::ScriptState;
use super::scripted_api::ScriptedApi;
use super::{ModelScript, Request, RequestLog};

/// A server that plays a [`ModelScript`], on a free port of the loopback address.
///
/// The common part of the servers of all vendors:
/// [`AnthropicServer`](super::anthropic::AnthropicServer),
/// [`OpenAiServer`](super::openai::OpenAiServer), [`GeminiServer`](super::gemini::GeminiServer). It
/// answers on its own thread, with and without a stream, and stops when it is dropped.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::AnthropicServer;
/// use autonoe_testkit::model_server::gemini::GeminiServer;
/// use autonoe_testkit::model_server::openai::OpenAiServer;
/// use autonoe_testkit::model_server::{ModelScript, ModelServer, Refusal, Turn};
///
/// let turns = || [Turn::from(Refusal::overloaded()), Turn::text("Good morning.")];
/// let script = || ModelScript::new(turns());
/// let anthropic = AnthropicServer::start(script()).unverified();
/// let openai = OpenAiServer::start(script()).unverified();
/// let gemini = GeminiServer::start(script()).unverified();
///
/// let servers: [&ModelServer; 3] = [&anthropic, &openai, &gemini];
/// for server in servers {
///     assert_eq!(server.problems(), ["the last 2 of 2 turns were not requested"]);
/// }
/// ```
#[derive(Debug)]
pub struct ModelServer {
    listener: Listener,
    log: RequestLog<Request>,
    playing: Arc<ScriptState>,
    on_drop: OnDrop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Verify,
    Ignore,
}

impl ModelServer {
    /// Starts a server of this vendor; panics on failure, because the test cannot continue then.
    pub(super) fn start(vendor: impl Vendor, script: ModelScript) -> Self {
        let playing = Arc::new(ScriptState::new(script));
        let (listener, log) = Listener::start(ScriptedApi::new(vendor, playing.clone()))
            .expect("a server can be started on the loopback address");
        Self {
            listener,
            log,
            playing,
            on_drop: OnDrop::Verify,
        }
    }

    /// Does not fail the test on drop.
    pub(super) fn ignore_on_drop(&mut self) {
        self.on_drop = OnDrop::Ignore;
    }

    /// Returns the URL of the server, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the listening address.
    pub fn address(&self) -> std::net::SocketAddr {
        self.listener.address()
    }

    /// Returns the log of requests so far.
    pub fn log(&self) -> &RequestLog<Request> {
        &self.log
    }

    /// Returns the problems so far: unanswered requests and unused turns.
    pub fn problems(&self) -> Vec<String> {
        let unanswered = self.log.unanswered();
        let mut problems: Vec<String> = unanswered.iter().map(ToString::to_string).collect();
        let (left, all) = self.playing.unused_turns();
        if left > 0 {
            problems.push(format!("the last {left} of {all} turns were not requested"));
        }
        problems
    }

    /// Fails the test if there was a problem or a turn is unused.
    ///
    /// # Panics
    ///
    /// If there are [`problems`](Self::problems).
    pub fn verify(&self) {
        let problems = self.problems();
        assert!(
            problems.is_empty(),
            "the script of the model server was not played as written:\n- {}\nIt received:\n{}",
            problems.join("\n- "),
            self.log.render(),
        );
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.listener.stop();
        if self.on_drop == OnDrop::Verify && !std::thread::panicking() {
            self.verify();
        }
    }
}

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
