//! Streamable HTTP transport to remote MCP servers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    HttpStatusError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use rustls::RootCertStore;
use sse_stream::{Sse, SseStream};

use super::McpOptions;
use crate::transport::Connector;

/// Maximum time to establish a connection.
const CONNECT: Duration = Duration::from_secs(10);

const AGENT: &str = concat!("autonoe/", env!("CARGO_PKG_VERSION"));
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Headers that the protocol sets and the configuration must not.
const RESERVED: [HeaderName; 5] = [
    ACCEPT,
    CONTENT_TYPE,
    SESSION,
    LAST_EVENT,
    HeaderName::from_static("mcp-protocol-version"),
];

type Failure = StreamableHttpError<HttpFailure>;

/// Error of a request. Excludes the URL, which may contain a secret.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct HttpFailure(String);

/// HTTP client for one server. Does not follow redirects, because its headers may contain a secret.
#[derive(Clone, Debug)]
pub(super) struct Http {
    client: Client<Connector, Full<Bytes>>,
    longest: usize,
}

/// Creates the transport to the server at `url`. Sends nothing yet.
///
/// # Errors
///
/// The URL or one of the headers is invalid.
pub(super) fn http_transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    options: &McpOptions,
) -> Result<StreamableHttpClientTransport<Http>, String> {
    let uri: Uri = url.parse().map_err(|_| "its url is not valid".to_owned())?;
    let authorities = match uri.scheme_str() {
        Some("https") => options
            .trust
            .read(&options.env)
            .map_err(|error| format!("no certificate can be trusted: {error}"))?,
        Some("http") => Arc::new(RootCertStore::empty()),
        _ => return Err("its url must begin with http:// or https://".to_owned()),
    };
    let connector = Connector::direct(authorities, CONNECT)
        .map_err(|error| format!("no connection can be encrypted: {error}"))?;
    let client = Http {
        client: Client::builder(TokioExecutor::new()).build(connector),
        longest: options.message_bytes,
    };
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom(headers)?)
        .max_sse_event_size(options.message_bytes)
        // The state of an expired session is lost, and the agent must learn about it.
        .reinit_on_expired_session(false);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn custom(headers: &BTreeMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let header = HeaderName::try_from(name.as_str())
            .map_err(|_| format!("{name:?} is not a valid header name"))?;
        if RESERVED.contains(&header) {
            return Err(format!("its header {name:?} is set by the protocol"));
        }
        let mut value = HeaderValue::try_from(value.as_str())
            .map_err(|_| format!("its header {name:?} has a value that is not valid"))?;
        value.set_sensitive(true);
        custom.insert(header, value);
    }
    Ok(custom)
}

impl Http {
    async fn send(
        &self,
        method: Method,
        uri: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>, Failure> {
        let failed = |message: String| StreamableHttpError::Client(HttpFailure(message));
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = uri
            .parse()
            .map_err(|_| failed("its url is not valid".to_owned()))?;
        *request.headers_mut() = headers;
        self.client.request(request).await.map_err(|error| {
            let cause = std::error::Error::source(&error);
            failed(cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}")))
        })
    }

    fn events(&self, response: Response<Incoming>) -> BoxStream<'static, Result<Sse, SseError>> {
        let mut limit = EventLimit::new(self.longest);
        let body = response
            .into_body()
            .into_data_stream()
            .map_err(std::io::Error::other)
            .and_then(move |piece| std::future::ready(limit.check(piece)));
        SseStream::from_bytes_stream(body).boxed()
    }

    async fn json(&self, response: Response<Incoming>) -> Result<Bytes, Failure> {
        let body = Limited::new(response.into_body(), self.longest)
            .collect()
            .await
            .map_err(|error| {
                StreamableHttpError::Client(HttpFailure(format!(
                    "its answer is incomplete: {error}"
                )))
            })?;
        Ok(body.to_bytes())
    }
}

/// Returns the headers of a request: those of the protocol, and those of the transport.
fn headers(
    session: Option<&str>,
    more: HashMap<HeaderName, HeaderValue>,
) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    headers.extend(more);
    if let Some(session) = session {
        let value = HeaderValue::try_from(session).map_err(|_| unexpected("a session id"))?;
        headers.insert(SESSION, value);
    }
    Ok(headers)
}

fn unexpected(subject: &str) -> Failure {
    let message = format!("it sent {subject} that is not valid");
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(message))
}

fn status(status: StatusCode) -> Failure {
    HttpStatusError::new(status.as_u16(), None).into()
}

fn text(response: &Response<Incoming>, name: &HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

impl StreamableHttpClient for Http {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut headers = headers(session.as_deref(), more)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let body = serde_json::to_vec(&message)?;
        let response = self.send(Method::POST, &uri, headers, body).await?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            StatusCode::NOT_FOUND if session.is_some() => {
                return Err(StreamableHttpError::SessionExpired);
            }
            other if !other.is_success() => return Err(status(other)),
            _ if !matches!(message, JsonRpcMessage::Request(_)) => {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            _ => {}
        }
        let session = text(&response, &SESSION);
        let kind = text(&response, &CONTENT_TYPE);
        match kind.as_deref() {
            Some(kind) if kind.starts_with(EVENTS) => Ok(StreamableHttpPostResponse::Sse(
                self.events(response),
                session,
            )),
            Some(kind) if kind.starts_with(JSON) => {
                let body = self.json(response).await?;
                let message = serde_json::from_slice(&body).map_err(|_| unexpected("an answer"))?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            _ => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let headers = headers(Some(&session), more)?;
        let response = self.send(Method::DELETE, &uri, headers, Vec::new()).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => {
                Err(StreamableHttpError::ServerDoesNotSupportDeleteSession)
            }
            other if !other.is_success() => Err(status(other)),
            _ => Ok(()),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut headers = headers(session.as_deref(), more)?;
        if let Some(last) = last_event {
            let last = HeaderValue::try_from(last).map_err(|_| unexpected("an event id"))?;
            headers.insert(LAST_EVENT, last);
        }
        let response = self.send(Method::GET, &uri, headers, Vec::new()).await?;
        let kind = text(&response, &CONTENT_TYPE);
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            other if !other.is_success() => Err(status(other)),
            _ if kind.as_deref().is_some_and(|kind| kind.starts_with(EVENTS)) => {
                Ok(self.events(response))
            }
            _ => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }
}

/// Enforces the maximum length of events in a stream.
#[derive(Debug)]
pub(super) struct EventLimit {
    longest: usize,
    /// Bytes since the last empty line.
    seen: usize,
    /// Whether the current line is empty so far.
    is_empty: bool,
}

impl EventLimit {
    pub(super) fn new(longest: usize) -> Self {
        Self {
            longest,
            seen: 0,
            is_empty: true,
        }
    }

    /// Checks the next piece of the stream.
    ///
    /// # Errors
    ///
    /// An event is too long.
    pub(super) fn check(&mut self, piece: Bytes) -> io::Result<Bytes> {
        for byte in &piece {
            match byte {
                b'\n' | b'\r' if self.is_empty => self.seen = 0,
                b'\n' | b'\r' => self.is_empty = true,
                _ => self.is_empty = false,
            }
            self.seen += 1;
            if self.seen > self.longest {
                let longest = self.longest;
                return Err(io::Error::other(format!(
                    "it sent a message of more than {longest} bytes"
                )));
            }
        }
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header_count(headers: &[(&str, &str)]) -> Result<usize, String> {
        let owned = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        custom(&owned.collect()).map(|headers| headers.len())
    }

    #[test]
    fn headers_are_accepted_unless_invalid_or_reserved() {
        assert_eq!(
            header_count(&[("Authorization", "Bearer x"), ("X-A", "1")]),
            Ok(2)
        );
        for header in [
            ("Mcp-Session-Id", "x"),
            ("accept", "x"),
            ("a b", "x"),
            ("X", "a\nb"),
        ] {
            let refused = header_count(&[header]).expect_err("it is refused");
            assert!(refused.contains(header.0), "{refused}");
            assert!(!refused.contains("a\nb"), "{refused}");
        }
    }

    fn passes(pieces: &[&str]) -> bool {
        let mut limit = EventLimit::new(20);
        let mut pieces = pieces.iter();
        pieces.all(|piece| {
            limit
                .check(Bytes::copy_from_slice(piece.as_bytes()))
                .is_ok()
        })
    }

    #[test]
    fn many_events_pass_and_a_long_one_does_not() {
        let long = "x".repeat(15);
        assert!(passes(&[
            "data: 1\n\ndata: 2\n\ndata: 3\n\n",
            "data: 4\n\n"
        ]));
        assert!(passes(&["data: 1\r\n\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n"]));
        assert!(passes(&[&long, "\n\n", &long, "\n\n"]));
        assert!(!passes(&[&long, &long]));
        assert!(!passes(&[&long, "\n", &long]));
    }
}
