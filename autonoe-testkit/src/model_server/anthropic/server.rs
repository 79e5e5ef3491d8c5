//! A server that plays a script.

use std::sync::Arc;

use crate::model_server::RequestLog;
use crate::model_server::listener::Listener;

use super::api::AnthropicApi;
use super::playing::Playing;
use super::{Request, Script};

/// A server of the Messages API that plays a [`Script`], on a free port of the loopback address.
///
/// Give its [`url`](Self::url) to Claude Code as `ANTHROPIC_BASE_URL`, with any
/// `ANTHROPIC_API_KEY`, or any `CLAUDE_CODE_OAUTH_TOKEN` where the limits of a
/// subscription matter. It answers on a thread of its own, with and without a stream, and
/// it is gone when it is dropped.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_testkit::model_server::anthropic::{AnthropicServer, Turn};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::TcpStream;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = AnthropicServer::start([Turn::text("Good morning.")]);
///
/// // In the place of a program that speaks to a model.
/// let body = r#"{"model": "claude-x", "messages": [{"role": "user", "content": "Hello."}],
///                "tools": [{"name": "Bash"}]}"#;
/// let mut client = TcpStream::connect(server.address()).await?;
/// let head = format!(
///     "POST /v1/messages HTTP/1.1\r\nhost: model\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
///     body.len(),
/// );
/// client.write_all(format!("{head}{body}").as_bytes()).await?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
///
/// assert!(answer.contains("Good morning."), "{answer}");
/// let log = server.log();
/// let asked = log.wait_for(Duration::from_secs(5), |seen| seen.request.messages().is_some()).await?;
/// assert_eq!(asked.request.messages().expect("it is one").user_texts(), ["Hello."]);
/// server.verify();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AnthropicServer {
    listener: Listener,
    log: RequestLog<Request>,
    playing: Arc<Playing>,
    on_drop: OnDrop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Verify,
    Ignore,
}

impl AnthropicServer {
    /// Starts a server. Once this returns, clients can connect.
    ///
    /// # Panics
    ///
    /// The system has no port or no thread to give: a test cannot go on then.
    pub fn start(script: impl Into<Script>) -> Self {
        let playing = Arc::new(Playing::new(script.into()));
        let (listener, log) = Listener::start(AnthropicApi::new(playing.clone()))
            .expect("a server can be started on the loopback address");
        Self {
            listener,
            log,
            playing,
            on_drop: OnDrop::Verify,
        }
    }

    /// Does not fail the test on drop: for programs that are meant to be broken off.
    ///
    /// [`problems`](Self::problems) and [`verify`](Self::verify) still tell.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.on_drop = OnDrop::Ignore;
        self
    }

    /// Returns where to reach it, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> std::net::SocketAddr {
        self.listener.address()
    }

    /// Returns what it was asked so far.
    pub fn log(&self) -> &RequestLog<Request> {
        &self.log
    }

    /// Returns what went wrong so far: requests without an answer, turns that are left over.
    pub fn problems(&self) -> Vec<String> {
        let unanswered = self.log.unanswered();
        let mut problems: Vec<String> = unanswered.iter().map(ToString::to_string).collect();
        let (left, all) = self.playing.left_over();
        if left > 0 {
            problems.push(format!("nobody asked for the last {left} of {all} turns"));
        }
        problems
    }

    /// Fails the test if anything went wrong or was left over.
    ///
    /// # Panics
    ///
    /// There are [`problems`](Self::problems).
    pub fn verify(&self) {
        let problems = self.problems();
        assert!(
            problems.is_empty(),
            "the script of the model server was not played as written:\n- {}\nIt was asked:\n{}",
            problems.join("\n- "),
            self.log.render(),
        );
    }
}

impl Drop for AnthropicServer {
    fn drop(&mut self) {
        self.listener.stop();
        if self.on_drop == OnDrop::Verify && !std::thread::panicking() {
            self.verify();
        }
    }
}
