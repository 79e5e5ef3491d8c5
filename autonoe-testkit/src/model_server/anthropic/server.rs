//! [`AnthropicServer`]: a server of the Messages API.

use std::ops::Deref;

use bytes::Bytes;
use hyper::header::HeaderName;
use serde_json::{Value, json};

use super::{events, read, refusal};
use crate::model_server::api::{ClassifiedRequest, EncodedRefusal, Head, Vendor, Wire};
use crate::model_server::ids::Ids;
use crate::model_server::streamed_body::Event;
use crate::model_server::{ModelScript, ModelServer, ReceivedPrompt, Refusal, ScriptedMessage};

/// A server of the Messages API that plays a [`ModelScript`], on a free port of the
/// loopback address.
///
/// Pass its [`url`](ModelServer::url) to Claude Code as `ANTHROPIC_BASE_URL`, with any
/// `ANTHROPIC_API_KEY`, or any `CLAUDE_CODE_OAUTH_TOKEN` where the limits of a subscription matter.
/// It answers on its own thread, with and without a stream, and stops when it is dropped. See
/// [`ModelServer`] for its other features.
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
/// // In place of a program that calls a model.
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
    /// If the system cannot provide a port or a thread, because the test cannot continue then.
    pub fn start(script: impl Into<ModelScript>) -> Self {
        Self(ModelServer::start(Anthropic, script.into()))
    }

    /// Does not fail the test on drop, for programs that are meant to be interrupted.
    ///
    /// [`problems`](ModelServer::problems) and [`verify`](ModelServer::verify) still report
    /// problems.
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

/// Anthropic with its single API.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anthropic;

impl Vendor for Anthropic {
    fn classify(&self, head: Head<'_>, body: &Bytes) -> ClassifiedRequest {
        let read =
            |classify: fn(Box<ReceivedPrompt>, &Bytes) -> ClassifiedRequest| match read::prompt(
                body,
            ) {
                Ok(prompt) => classify(Box::new(prompt), body),
                Err(reason) => ClassifiedRequest::Unreadable(reason),
            };
        match (head.method, head.path) {
            ("POST", "/v1/messages") => {
                read(|prompt, _| ClassifiedRequest::Message(&Anthropic, prompt))
            }
            ("POST", "/v1/messages/count_tokens") => read(|prompt, body| {
                // A token is about four bytes of JSON.
                let tokens = (body.len() / 4).max(1);
                ClassifiedRequest::Count(prompt, json!({"input_tokens": tokens}))
            }),
            // Paths that programs use to check that the server is reachable.
            ("GET" | "HEAD", "/" | "/api/hello") => ClassifiedRequest::Fixed(json!({})),
            _ => ClassifiedRequest::Nothing,
        }
    }

    fn refuse(&self, refusal: &Refusal, ids: Ids) -> EncodedRefusal {
        refusal::refuse(refusal, &ids.answer_id("req"))
    }

    fn request_id(&self, ids: Ids) -> Option<(HeaderName, String)> {
        Some((HeaderName::from_static("request-id"), ids.answer_id("req")))
    }
}

impl Wire for Anthropic {
    fn encode_message(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Value, String> {
        events::encode_message(message, prompt, ids)
    }

    fn stream(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Vec<Event>, String> {
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
