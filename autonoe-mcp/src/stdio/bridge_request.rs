//! HTTP requests of the stdio bridge to the run's tool server.

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming as Receiving;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use sse_stream::SseStream;
use tokio::net::TcpStream;

use super::BridgeError;
use super::lines::LineWriter;

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
        let version = answer.pointer("/result/protocolVersion");
        let version = version.and_then(Value::as_str);
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
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| BridgeError::Gone(error.into()))?;
        let answer = serde_json::from_slice(&body.to_bytes());
        Ok((
            answer.map_err(|error| BridgeError::Gone(error.into()))?,
            client,
        ))
    }

    /// Forwards a message and writes the messages of the response to the agent. Returns whether an
    /// answer was among them.
    pub(super) async fn forward(
        &self,
        line: Vec<u8>,
        say: &LineWriter,
    ) -> Result<bool, BridgeError> {
        let response = self.send(Method::POST, line).await?;
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.map(HeaderValue::as_bytes).unwrap_or_default();
        let unreachable =
            |error: Box<dyn std::error::Error + Send + Sync>| BridgeError::Gone(error);
        if kind == b"text/event-stream" {
            let pieces = response.into_body().into_data_stream();
            let pieces = pieces.map_err(std::io::Error::other);
            let mut events = SseStream::from_bytes_stream(pieces).boxed();
            let mut is_answered = false;
            while let Some(event) = events.next().await {
                let Some(text) = event.map_err(|error| unreachable(error.into()))?.data else {
                    continue;
                };
                let Ok(message) = serde_json::from_str::<Value>(&text) else {
                    continue;
                };
                is_answered |= message.get("method").is_none();
                say.send(&message).await;
            }
            return Ok(is_answered);
        }
        if kind == b"application/json" {
            let body = response.into_body().collect().await;
            let body = body.map_err(|error| unreachable(error.into()))?.to_bytes();
            let message: Value =
                serde_json::from_slice(&body).map_err(|error| unreachable(error.into()))?;
            say.send(&message).await;
            return Ok(true);
        }
        match response.status() {
            status if status.is_success() => Ok(false),
            status => Err(BridgeError::Refused(status.as_u16())),
        }
    }

    /// Signs the client off at the run.
    pub(super) async fn sign_off(&self) {
        if self.client.is_some() {
            let _ = self.send(Method::DELETE, Vec::new()).await;
        }
    }

    async fn send(
        &self,
        method: Method,
        body: Vec<u8>,
    ) -> Result<Response<Receiving>, BridgeError> {
        let unreachable =
            |error: Box<dyn std::error::Error + Send + Sync>| BridgeError::Gone(error);
        let host = self.host.trim_matches(['[', ']']);
        let connection = TcpStream::connect((host, self.port)).await;
        let connection = connection.map_err(|error| unreachable(error.into()))?;
        let (mut sender, talk) = http1::handshake(TokioIo::new(connection))
            .await
            .map_err(|error| unreachable(error.into()))?;
        // The connection task ends when the response is read or dropped.
        tokio::spawn(talk);
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
        response.map_err(|error| unreachable(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_sent_to_this_machine_only() {
        for (url, is_taken) in [
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
            assert_eq!(RunClient::new(url, "secret").is_ok(), is_taken, "{url}");
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
