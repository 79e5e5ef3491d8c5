//! A server of the Messages API.

use std::ops::Deref;

use crate::model_server::{ModelServer, Script};

use super::messages::Anthropic;

/// A server of the Messages API that plays a [`Script`], on a free port of the loopback address.
///
/// Give its [`url`](ModelServer::url) to Claude Code as `ANTHROPIC_BASE_URL`, with any
/// `ANTHROPIC_API_KEY`, or any `CLAUDE_CODE_OAUTH_TOKEN` where the limits of a
/// subscription matter. It answers on a thread of its own, with and without a stream, and
/// it is gone when it is dropped. What it can do beside that stands with [`ModelServer`].
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
pub struct AnthropicServer(ModelServer);

impl AnthropicServer {
    /// Starts a server. Once this returns, clients can connect.
    ///
    /// # Panics
    ///
    /// The system has no port or no thread to give: a test cannot go on then.
    pub fn start(script: impl Into<Script>) -> Self {
        Self(ModelServer::start(Anthropic, script.into()))
    }

    /// Does not fail the test on drop: for programs that are meant to be interrupted.
    ///
    /// [`problems`](ModelServer::problems) and [`verify`](ModelServer::verify) still tell.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.0.ignore_on_drop();
        self
    }
}

impl Deref for AnthropicServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.0
    }
}
