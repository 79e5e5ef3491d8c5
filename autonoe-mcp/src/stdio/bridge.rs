//! Bridge from an agent's stdio to the HTTP tool server of the run.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming as Receiving;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::Value;
use sse_stream::SseStream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::lines::{LineWriter, Lines, line_writer, write_lines};
use super::serve::LAST_CALLS;
use crate::protocol::{Incoming, error_response, parse_message};

/// Environment variable with the secret of the run's tools, for the command `autonoe mcp`.
pub const TOKEN_VARIABLE: &str = "AUTONOE_MCP_TOKEN";

/// Maximum time to sign off at the run.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Error code of a request that the run did not answer.
const NOT_ANSWERED: ErrorCode = ErrorCode(-32000);

/// Forwards MCP messages between an agent's pair of pipes and the tool server at `url`.
///
/// For agents that know MCP servers by command only. Such a server is a child process of the agent
/// and cannot write the ledger of the run. The bridge therefore forwards messages to the
/// [`HttpToolServer`](crate::HttpToolServer) in the process of the run, which accepts `token`. The
/// bridge cancels a call on the server when the agent cancels the call or closes its end of the
/// pipe.
///
/// # Errors
///
/// `url` is not on this machine; the run has ended or rejects `token` when the agent initializes; a
/// pipe fails. Later failures are sent to the agent as the answer to its request.
///
/// ```
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::{McpServer, ToolServer, Toolbox};
/// use autonoe_core::RunId;
/// use autonoe_mcp::{HttpToolServer, TOKEN_VARIABLE, bridge_stdio};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let server = HttpToolServer::new().by_command("autonoe");
/// let session = SessionKey { run: RunId::new("run"), number: 1 };
/// let served = server.serve(&session, Toolbox::new([])).await?;
/// let McpServer::Stdio { args, env, .. } = &served.server else { panic!("by command") };
/// let request = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
/// let mut response = Vec::new();
///
/// // What `autonoe mcp --url ..` does:
/// bridge_stdio(&args[2], &env[TOKEN_VARIABLE], &request[..], &mut response).await?;
///
/// let answer: serde_json::Value = serde_json::from_slice(&response)?;
/// assert_eq!(answer, serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub async fn bridge_stdio(
    url: &str,
    token: &str,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
) -> Result<(), BridgeError> {
    let mut bridge = Bridge {
        run: RunClient::new(url, token)?,
        requests: HashMap::new(),
        tasks: JoinSet::new(),
    };
    let (writer, lines) = line_writer();
    let writing = write_lines(lines, output);
    tokio::pin!(writing);
    let forwarded = tokio::select! {
        biased;
        written = &mut writing => return ignore_broken_pipe(written),
        forwarded = bridge.forward_all(writer, input) => forwarded,
    };
    ignore_broken_pipe(writing.await)?;
    forwarded
}

/// A closed pipe means that the agent has exited, which is not an error.
fn ignore_broken_pipe(written: io::Result<()>) -> Result<(), BridgeError> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(BridgeError::Pipe),
    }
}

struct Bridge {
    run: RunClient,
    /// Tasks of forwarded requests, by request ID.
    requests: HashMap<String, AbortHandle>,
    tasks: JoinSet<String>,
}

impl Bridge {
    async fn forward_all(
        &mut self,
        writer: LineWriter,
        input: impl AsyncRead + Unpin,
    ) -> Result<(), BridgeError> {
        let mut lines = Lines::new(input);
        let ended = loop {
            let line = tokio::select! {
                line = lines.next() => line,
                Some(done) = self.tasks.join_next() => {
                    if let Ok(id) = done {
                        self.requests.remove(&id);
                    }
                    continue;
                }
            };
            match line {
                Ok(Some(line)) => {
                    if let Err(error) = self.forward(line, &writer).await {
                        break Err(error);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(BridgeError::Pipe(error)),
            }
        };
        let tasks = &mut self.tasks;
        let _ = timeout(LAST_CALLS, async {
            while tasks.join_next().await.is_some() {}
        })
        .await;
        self.tasks.shutdown().await;
        let _ = timeout(CLOSE_TIMEOUT, self.run.close_session()).await;
        ended
    }

    /// Forwards one message. Returns an error only if the bridge cannot continue.
    async fn forward(&mut self, line: Vec<u8>, writer: &LineWriter) -> Result<(), BridgeError> {
        match parse_message(&line) {
            Err(answer) => writer.send(&answer).await,
            Ok(Incoming::Request { id, method, .. }) if method == "initialize" => {
                match self.run.initialize(line).await {
                    Ok((answer, client)) => {
                        self.run.set_session(client, &answer);
                        writer.send(&answer).await;
                    }
                    Err(error) => {
                        writer.send(&not_answered(&id, &error)).await;
                        return Err(error);
                    }
                }
            }
            Ok(Incoming::Request { id, .. }) => self.forward_request(id, line, writer),
            Ok(Incoming::Notification { method, params }) => {
                let cancelled = params.get("requestId");
                match cancelled.filter(|_| method == "notifications/cancelled") {
                    // Aborting the request closes its connection, which cancels the call at the
                    // run. Unlike a separate message, this cannot overtake the call itself.
                    Some(id) => {
                        if let Some(task) = self.requests.remove(&id.to_string()) {
                            task.abort();
                        }
                    }
                    None => self.forward_notification(line, writer).await,
                }
            }
            Ok(Incoming::Answer) => self.forward_notification(line, writer).await,
        }
        Ok(())
    }

    /// Forwards a message without an answer. Failures are only logged.
    async fn forward_notification(&self, line: Vec<u8>, writer: &LineWriter) {
        if let Err(error) = self.run.forward(line, writer).await {
            tracing::debug!(%error, "a notification of the agent could not be forwarded");
        }
    }

    fn forward_request(&mut self, id: Value, line: Vec<u8>, writer: &LineWriter) {
        let (run, writer, name) = (self.run.clone(), writer.clone(), id.to_string());
        let done = name.clone();
        let task = self.tasks.spawn(async move {
            let failed = match run.forward(line, &writer).await {
                Ok(true) => None,
                Ok(false) => Some(BridgeError::Unreachable("the run sent no response".into())),
                Err(error) => Some(error),
            };
            if let Some(error) = failed {
                writer.send(&not_answered(&id, &error)).await;
            }
            done
        });
        self.requests.insert(name, task);
    }
}

/// Returns the error response for a request that the run did not answer.
fn not_answered(id: &Value, error: &BridgeError) -> Value {
    error_response(id, &ErrorData::new(NOT_ANSWERED, error.to_string(), None))
}

/// Error of [`bridge_stdio`]. Contains neither the address nor the secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The address is not one of a run on this machine.
    #[error("the address of the run's tools must be a local one: http://127.0.0.1:PORT/..")]
    Address,
    /// The secret is empty or not a valid header value.
    #[error(
        "the secret of the run's tools is empty or has characters that a header cannot contain"
    )]
    Token,
    /// The run's tool server is unreachable.
    #[error("the run has ended: its tools are no longer served")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run refused the request, with this HTTP status.
    #[error("the run no longer serves these tools, or rejects this secret (status {0})")]
    Refused(u16),
    /// Reading from or writing to the agent failed.
    #[error("the connection to the agent failed")]
    Pipe(#[source] io::Error),
}

impl BridgeError {
    fn unreachable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unreachable(error.into())
    }
}

const CLIENT: HeaderName = HeaderName::from_static("mcp-session-id");

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// HTTP client of the run's tool server.
#[derive(Clone)]
pub(super) struct RunClient {
    host: String,
    port: u16,
    path: String,
    secret: HeaderValue,
    /// Client ID that the run assigned on `initialize`.
    client: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

impl RunClient {
    pub(super) fn new(url: &str, token: &str) -> Result<Self, BridgeError> {
        let uri: Uri = url.parse().map_err(|_| BridgeError::Address)?;
        let host = uri.host().unwrap_or_default();
        // The secret must never leave this machine.
        let is_here = ["127.0.0.1", "localhost", "[::1]"].contains(&host);
        let port = uri.port_u16();
        let (Some("http"), true, Some(port)) = (uri.scheme_str(), is_here, port) else {
            return Err(BridgeError::Address);
        };
        let mut secret =
            HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| BridgeError::Token)?;
        if token.is_empty() {
            return Err(BridgeError::Token);
        }
        secret.set_sensitive(true);
        Ok(Self {
            host: host.to_owned(),
            port,
            path: uri.path().to_owned(),
            secret,
            client: None,
            version: None,
        })
    }

    /// Stores the client ID and the protocol version from the response to `initialize`.
    pub(super) fn set_session(&mut self, client: Option<HeaderValue>, answer: &Value) {
        self.client = client;
        let version = answer
            .pointer("/result/protocolVersion")
            .and_then(Value::as_str);
        self.version = version.and_then(|version| HeaderValue::try_from(version).ok());
    }

    /// Sends the agent's `initialize` request. Returns the answer and the assigned client ID.
    pub(super) async fn initialize(
        &self,
        line: Vec<u8>,
    ) -> Result<(Value, Option<HeaderValue>), BridgeError> {
        let response = self.send(Method::POST, line).await?;
        if !response.status().is_success() && response.status() != StatusCode::BAD_REQUEST {
            return Err(BridgeError::Refused(response.status().as_u16()));
        }
        let client = response.headers().get(CLIENT).cloned();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(BridgeError::unreachable)?;
        let answer = serde_json::from_slice(&body.to_bytes());
        Ok((answer.map_err(BridgeError::unreachable)?, client))
    }

    /// Forwards a message and writes the messages of the response to the agent. Returns whether an
    /// answer was among them.
    pub(super) async fn forward(
        &self,
        line: Vec<u8>,
        writer: &LineWriter,
    ) -> Result<bool, BridgeError> {
        let response = self.send(Method::POST, line).await?;
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .map(HeaderValue::as_bytes)
            .unwrap_or_default();
        if kind == b"text/event-stream" {
            let pieces = response
                .into_body()
                .into_data_stream()
                .map_err(std::io::Error::other);
            let mut events = SseStream::from_bytes_stream(pieces).boxed();
            let mut is_answered = false;
            while let Some(event) = events.next().await {
                let Some(text) = event.map_err(BridgeError::unreachable)?.data else {
                    continue;
                };
                let Ok(message) = serde_json::from_str::<Value>(&text) else {
                    continue;
                };
                is_answered |= message.get("method").is_none();
                writer.send(&message).await;
            }
            return Ok(is_answered);
        }
        if kind == b"application/json" {
            let body = response
                .into_body()
                .collect()
                .await
                .map_err(BridgeError::unreachable)?
                .to_bytes();
            let message: Value = serde_json::from_slice(&body).map_err(BridgeError::unreachable)?;
            writer.send(&message).await;
            return Ok(true);
        }
        match response.status() {
            status if status.is_success() => Ok(false),
            status => Err(BridgeError::Refused(status.as_u16())),
        }
    }

    /// Signs the client off at the run.
    pub(super) async fn close_session(&self) {
        if self.client.is_some() {
            let _ = self.send(Method::DELETE, Vec::new()).await;
        }
    }

    async fn send(
        &self,
        method: Method,
        body: Vec<u8>,
    ) -> Result<Response<Receiving>, BridgeError> {
        let host = self.host.trim_matches(['[', ']']);
        let connection = TcpStream::connect((host, self.port))
            .await
            .map_err(BridgeError::unreachable)?;
        let (mut sender, connection_task) = http1::handshake(TokioIo::new(connection))
            .await
            .map_err(BridgeError::unreachable)?;
        // The connection task ends when the response is read or dropped.
        tokio::spawn(connection_task);
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = self.path.parse().map_err(|_| BridgeError::Address)?;
        let headers = request.headers_mut();
        let here = HeaderValue::try_from(format!("{}:{}", self.host, self.port));
        headers.insert(HOST, here.map_err(|_| BridgeError::Address)?);
        headers.insert(AUTHORIZATION, self.secret.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        for (name, value) in [(CLIENT, &self.client), (VERSION, &self.version)] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        let response = sender.send_request(request).await;
        response.map_err(BridgeError::unreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_sent_to_this_machine_only() {
        for (url, is_accepted) in [
            ("http://127.0.0.1:80/sessions/1/mcp", true),
            ("http://[::1]:80/", true),
            ("http://localhost:80/", true),
            ("https://127.0.0.1:80/", false),
            ("http://127.0.0.1/", false),
            ("http://example.com:80/", false),
            ("http://127.0.0.1.example.com:80/", false),
            ("http://user@example.com:80/", false),
            ("/sessions/1/mcp", false),
            ("", false),
        ] {
            assert_eq!(RunClient::new(url, "secret").is_ok(), is_accepted, "{url}");
        }
    }

    #[test]
    fn a_secret_that_cannot_be_sent_is_refused() {
        for token in ["", "a\nb"] {
            let refused = RunClient::new("http://127.0.0.1:1/", token).err();

            assert!(matches!(refused, Some(BridgeError::Token)), "{token:?}");
        }
    }
}
