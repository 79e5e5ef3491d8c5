//! [`GeminiServer`]: a server of the Gemini API.

use std::ops::Deref;

use bytes::Bytes;
use hyper::header::HeaderName;
use serde_json::{Value, json};

use super::read::{self, Answered};
use super::{chunks, refusal};
use crate::model_server::api::{ClassifiedRequest, EncodedRefusal, Head, Vendor, Wire};
use crate::model_server::ids::Ids;
use crate::model_server::streamed_body::Event;
use crate::model_server::{ModelScript, ModelServer, ReceivedPrompt, Refusal, ScriptedMessage};

/// A server of the Gemini API that plays a [`ModelScript`], on a free port of the loopback address.
///
/// Pass its [`url`](ModelServer::url) to Gemini CLI as `GOOGLE_GEMINI_BASE_URL`, with any
/// `GEMINI_API_KEY`. It answers on its own thread, with and without a stream, and stops when it is
/// dropped. See [`ModelServer`] for its other features.
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
/// // In place of a program that calls a model.
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
    /// If the system cannot provide a port or a thread, because the test cannot continue then.
    pub fn start(script: impl Into<ModelScript>) -> Self {
        Self(ModelServer::start(Gemini, script.into()))
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

impl Deref for GeminiServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.0
    }
}

/// Google with its single API.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gemini;

impl Vendor for Gemini {
    fn classify(&self, head: Head<'_>, body: &Bytes) -> ClassifiedRequest {
        let Some((model, method)) = model_and_method(head) else {
            return ClassifiedRequest::Nothing;
        };
        let answered = match method {
            "generateContent" | "countTokens" => Answered::Whole,
            "streamGenerateContent" if wants_events(head.query) => Answered::Stream,
            // Without SSE it would be a single JSON list, streamed in pieces.
            "streamGenerateContent" => {
                return ClassifiedRequest::Unreadable(
                    "a stream is requested without alt=sse".to_owned(),
                );
            }
            _ => return ClassifiedRequest::Nothing,
        };
        match (read::prompt(body, model, answered), method) {
            (Err(reason), _) => ClassifiedRequest::Unreadable(reason),
            (Ok(prompt), "countTokens") => {
                // A token is about four bytes of JSON.
                let tokens = (body.len() / 4).max(1);
                ClassifiedRequest::Count(Box::new(prompt), json!({"totalTokens": tokens}))
            }
            (Ok(prompt), _) => ClassifiedRequest::Message(&Gemini, Box::new(prompt)),
        }
    }

    fn refuse(&self, refusal: &Refusal, _: Ids) -> EncodedRefusal {
        refusal::refuse(refusal)
    }

    fn request_id(&self, _: Ids) -> Option<(HeaderName, String)> {
        None
    }
}

impl Wire for Gemini {
    fn encode_message(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Value, String> {
        chunks::encode_message(message, prompt, ids)
    }

    fn stream(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Vec<Event>, String> {
        chunks::stream(message, prompt, ids)
    }

    fn malformed(&self) -> Event {
        Event::text(None, r#"{"candidates": [broken"#)
    }

    fn error(&self, kind: &str, message: &str, _: usize) -> Event {
        Event::data(&refusal::error(kind, message))
    }

    fn line_end(&self) -> &'static str {
        "\r\n"
    }
}

/// Returns the model and method in a path such as `/v1beta/models/gemini-x:generateContent`.
fn model_and_method(head: Head<'_>) -> Option<(&str, &str)> {
    let path = head.path;
    let versions = ["/v1beta/models/", "/v1/models/"];
    let rest = versions.iter().find_map(|start| path.strip_prefix(start))?;
    rest.rsplit_once(':').filter(|_| head.method == "POST")
}

fn wants_events(query: &str) -> bool {
    query.split('&').any(|parameter| parameter == "alt=sse")
}
