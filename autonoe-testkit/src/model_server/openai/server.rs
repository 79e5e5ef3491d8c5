//! [`OpenAiServer`]: a server of OpenAI's APIs.

use std::ops::Deref;

use bytes::Bytes;
use hyper::header::HeaderName;
use serde_json::json;

use super::chat::{self, Chat};
use super::refusal;
use super::responses::{self, Responses};
use crate::model_server::api::{ClassifiedRequest, EncodedRefusal, Head, Vendor, Wire};
use crate::model_server::ids::Ids;
use crate::model_server::{ModelScript, ModelServer, ReceivedPrompt, Refusal};

/// A server of the Responses API and of Chat Completions that plays a [`ModelScript`], on a free
/// port of the loopback address.
///
/// Pass its [`api_url`](Self::api_url) to a program as the base URL, with any key. It answers on
/// its own thread, with and without a stream, and stops when it is dropped. See [`ModelServer`] for
/// its other features.
///
/// ```
/// use autonoe_testkit::model_server::openai::OpenAiServer;
/// use autonoe_testkit::model_server::{ScriptedMessage, Turn};
/// use serde_json::json;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::TcpStream;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = OpenAiServer::start([
///     Turn::from(
///         ScriptedMessage::new().thinks("Hm.").uses_tool("shell", json!({"command": "ls"})),
///     ),
///     Turn::text("Good morning."),
/// ]);
///
/// // In place of a program that calls a model.
/// for (path, prompt) in [
///     ("/v1/responses", json!({"instructions": "Be brief.", "input": "Hello."})),
///     ("/v1/chat/completions", json!({"messages": [{"role": "user", "content": "Hello."}]})),
/// ] {
///     let mut body = prompt;
///     body["model"] = "gpt-x".into();
///     body["tools"] = json!([{"type": "function", "name": "shell"}]);
///     let body = body.to_string();
///     let length = body.len();
///     let head = format!("POST {path} HTTP/1.1\r\nhost: model\r\nconnection: close\r\n");
///     let mut client = TcpStream::connect(server.address()).await?;
///     let request = format!("{head}content-length: {length}\r\n\r\n{body}");
///     client.write_all(request.as_bytes()).await?;
///     let mut answer = String::new();
///     client.read_to_string(&mut answer).await?;
///     assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
/// }
///
/// let asked = server.log().main_requests();
/// assert_eq!(asked[0].system_texts(), ["Be brief."]);
/// assert_eq!(asked[1].user_texts(), ["Hello."]);
/// server.verify();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OpenAiServer(ModelServer);

impl OpenAiServer {
    /// Starts a server. Once this returns, clients can connect.
    ///
    /// # Panics
    ///
    /// If the system cannot provide a port or a thread, because the test cannot continue then.
    pub fn start(script: impl Into<ModelScript>) -> Self {
        Self(ModelServer::start(OpenAi, script.into()))
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

    /// Returns the base URL of the API, such as `http://127.0.0.1:40123/v1`.
    pub fn api_url(&self) -> String {
        format!("{}/v1", self.url())
    }
}

impl Deref for OpenAiServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.0
    }
}

/// OpenAI with its two APIs.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenAi;

impl Vendor for OpenAi {
    fn classify(&self, head: Head<'_>, body: &Bytes) -> ClassifiedRequest {
        match (head.method, head.path) {
            ("POST", "/v1/responses") => message(&Responses, responses::prompt(body)),
            // Other services have it under other paths.
            ("POST", path) if path.ends_with("/chat/completions") => {
                message(&Chat, chat::prompt(body))
            }
            // The path that programs use to list the models.
            ("GET", "/v1/models") => {
                let model = json!({"id": "scripted", "object": "model", "owned_by": "scripted"});
                ClassifiedRequest::Fixed(json!({"object": "list", "data": [model], "models": []}))
            }
            _ => ClassifiedRequest::Nothing,
        }
    }

    fn refuse(&self, refusal: &Refusal, _: Ids) -> EncodedRefusal {
        refusal::refuse(refusal)
    }

    fn request_id(&self, ids: Ids) -> Option<(HeaderName, String)> {
        Some((
            HeaderName::from_static("x-request-id"),
            ids.answer_id("req"),
        ))
    }
}

fn message(wire: &'static dyn Wire, prompt: Result<ReceivedPrompt, String>) -> ClassifiedRequest {
    match prompt {
        Ok(prompt) => ClassifiedRequest::Message(wire, Box::new(prompt)),
        Err(reason) => ClassifiedRequest::Unreadable(reason),
    }
}
