//! A server of the Messages API.

use std::ops::Deref;

use bytes::Bytes;
use hyper::header::HeaderName;
use serde_json::{Value, json};

use super::{events, read, refusal};
use crate::model_server::api::Head;
use crate::model_server::event::Event;
use crate::model_server::ids::Ids;
use crate::model_server::vendor::{Asked, Refused, Vendor, Wire};
use crate::model_server::{Message, ModelServer, Prompt, Refusal, Script};

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

/// Anthropic, with its one API.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anthropic;

impl Vendor for Anthropic {
    fn asked(&self, head: Head<'_>, body: &Bytes) -> Asked {
        let read = |asked: fn(Box<Prompt>, &Bytes) -> Asked| match read::prompt(body) {
            Ok(prompt) => asked(Box::new(prompt), body),
            Err(reason) => Asked::Unreadable(reason),
        };
        match (head.method, head.path) {
            ("POST", "/v1/messages") => read(|prompt, _| Asked::Message(&Anthropic, prompt)),
            ("POST", "/v1/messages/count_tokens") => read(|prompt, body| {
                // About four bytes of JSON make a token.
                let tokens = (body.len() / 4).max(1);
                Asked::Count(prompt, json!({"input_tokens": tokens}))
            }),
            // Where programs look whether anybody is there.
            ("GET" | "HEAD", "/" | "/api/hello") => Asked::Fixed(json!({})),
            _ => Asked::Nothing,
        }
    }

    fn refuse(&self, refusal: &Refusal, ids: Ids) -> Refused {
        refusal::refuse(refusal, &ids.of("req"))
    }

    fn request_id(&self, ids: Ids) -> Option<(HeaderName, String)> {
        Some((HeaderName::from_static("request-id"), ids.of("req")))
    }
}

impl Wire for Anthropic {
    fn whole(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Value, String> {
        events::whole(message, prompt, ids)
    }

    fn stream(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Vec<Event>, String> {
        events::stream(message, prompt, ids)
    }

    fn malformed(&self) -> Event {
        let broken = r#"{"type": "content_block_delta", broken"#;
        Event::text(Some("content_block_delta"), broken)
    }

    fn error(&self, kind: &str, message: &str, _: usize) -> Event {
        let error = json!({"type": "error", "error": {"type": kind, "message": message}});
        Event::named("error", &error)
    }
}
