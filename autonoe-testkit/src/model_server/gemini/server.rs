//! A server of the Gemini API.

use std::ops::Deref;

use crate::model_server::{ModelServer, Script};

use super::vendor::Gemini;

/// A server of the Gemini API that plays a [`Script`], on a free port of the loopback address.
///
/// Give its [`url`](ModelServer::url) to Gemini CLI as `GOOGLE_GEMINI_BASE_URL`, with any
/// `GEMINI_API_KEY`. It answers on a thread of its own, with and without a stream, and it is
/// gone when it is dropped. What it can do beside that stands with [`ModelServer`].
///
/// ```
/// use autonoe_testkit::model_server::gemini::GeminiServer;
/// use autonoe_testkit::model_server::{Credential, Turn};
/// use serde_json::json;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::TcpStream;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = GeminiServer::start([Turn::text("Good morning.")]);
///
/// // In the place of a program that speaks to a model.
/// let body = json!({
///     "contents": [{"role": "user", "parts": [{"text": "Hello."}]}],
///     "tools": [{"functionDeclarations": [{"name": "shell"}]}],
/// })
/// .to_string();
/// let head = "POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse HTTP/1.1\r\n\
///             host: model\r\nconnection: close\r\nx-goog-api-key: dummy\r\n";
/// let length = body.len();
/// let mut client = TcpStream::connect(server.address()).await?;
/// client.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes()).await?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
///
/// assert!(answer.contains("Good morning."), "{answer}");
/// let asked = server.log().exchanges().remove(0);
/// assert_eq!(asked.headers.credential(), Some(Credential::ApiKey));
/// assert_eq!(asked.request.messages().expect("it is one").user_texts(), ["Hello."]);
/// server.verify();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GeminiServer(ModelServer);

impl GeminiServer {
    /// Starts a server. Once this returns, clients can connect.
    ///
    /// # Panics
    ///
    /// The system has no port or no thread to give: a test cannot go on then.
    pub fn start(script: impl Into<Script>) -> Self {
        Self(ModelServer::start(Gemini, script.into()))
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

impl Deref for GeminiServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.0
    }
}
