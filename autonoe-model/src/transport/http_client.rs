//! [`HttpClient`] of a provider, [`HttpModel`], a model on top of it, and [`Call`], one call from the request to its end.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::Full;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;

use super::answer_parser::{AnswerParser, ParseProgress};
use super::connector::Connector;
use super::response::{Body, HttpResponse, request_id};
use super::timeouts::with_timeout;
use super::{BaseUrl, SecretSet, Timeouts, failure};
use crate::contract::{
    ModelClient, ModelError, ModelErrorCode, ModelEvent, ModelIdentity, ModelRequest, ModelStream,
};
use crate::wire::{Encoded, Wire};

/// Time to keep an idle connection. Providers close them after a minute or more, and a request on a
/// closing connection fails.
const IDLE: Duration = Duration::from_secs(30);

const AGENT: &str = concat!("autonoe/", env!("CARGO_PKG_VERSION"));

/// Sends requests to one provider. Connections are reused. Redirects are not followed, because they
/// would leak the key.
#[derive(Debug)]
pub(crate) struct HttpClient {
    pub(crate) client: Client<Connector, Full<Bytes>>,
    pub(crate) base_url: BaseUrl,
    /// Key and additional headers. They override those of the protocol.
    pub(crate) headers: HeaderMap,
    pub(crate) timeouts: Timeouts,
    /// Words that must not appear in any error.
    pub(crate) secrets: SecretSet,
}

/// Creates a pool of connections. Sends nothing yet.
pub(crate) fn pool(connector: Connector) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .pool_idle_timeout(IDLE)
        .pool_timer(TokioTimer::new())
        .build(connector)
}

impl HttpClient {
    /// Sends a request, and returns the response when its head has arrived.
    ///
    /// # Errors
    ///
    /// The provider is unreachable, or does not answer in time.
    async fn post(&self, encoded: &Encoded) -> Result<HttpResponse, ModelError> {
        let host = self.base_url.host();
        let request = self.request(encoded)?;
        let limit = self.timeouts.head();
        let missing = format!("{host} did not start to answer");
        let response = with_timeout(limit, &missing, self.client.request(request))
            .await?
            .map_err(|error| {
                let failed = failure::request_error(&error, host);
                if error.is_connect() {
                    failed.with_nothing_used()
                } else {
                    failed
                }
            })?;
        let (head, body) = response.into_parts();
        Ok(HttpResponse {
            status: head.status,
            headers: head.headers,
            body: Body::new(body, self.timeouts.silence(), host),
        })
    }

    fn request(&self, encoded: &Encoded) -> Result<Request<Full<Bytes>>, ModelError> {
        let unsendable = |reason: &str| {
            let message = format!("the request cannot be sent: {reason}");
            ModelError::new(ModelErrorCode::Unknown, message)
        };
        let uri = self
            .base_url
            .join(&encoded.path)
            .ok_or_else(|| unsendable("its path is not valid"))?;
        let body =
            serde_json::to_vec(&encoded.body).map_err(|error| unsendable(&error.to_string()))?;
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in &encoded.headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| unsendable("a header has an illegal value"))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        Ok(request)
    }
}

/// A model that is called over the protocol `W`.
pub(crate) struct HttpModel<W> {
    pub(crate) wire: Arc<W>,
    pub(crate) http: Arc<HttpClient>,
    pub(crate) identity: ModelIdentity,
}

impl<W: Wire> fmt::Debug for HttpModel<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("identity", &self.identity)
            .field("protocol", &self.wire.protocol())
            .finish_non_exhaustive()
    }
}

impl<W: Wire> ModelClient for HttpModel<W> {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        let encoded = self.wire.encode(&self.identity.model, request);
        let call = Call {
            wire: self.wire.clone(),
            http: self.http.clone(),
            state: CallState::Requesting(encoded),
            new_events: VecDeque::new(),
        };
        stream::unfold(call, async |mut call| {
            let event = call.next().await?;
            Some((event, call))
        })
        // Polling an unfused stream after its end would panic.
        .fuse()
        .boxed()
    }
}

/// Maximum time to drain the connection after a complete answer.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// A call in progress. Dropping it ends it.
struct Call<W> {
    wire: Arc<W>,
    http: Arc<HttpClient>,
    state: CallState,
    /// Events to emit before anything else.
    new_events: VecDeque<Result<ModelEvent, ModelError>>,
}

enum CallState {
    Requesting(Encoded),
    Answering {
        body: Body,
        reading: AnswerParser,
        request_id: Option<String>,
    },
    Over,
}

impl<W: Wire> Call<W> {
    /// Returns the next part of the answer; `None` after its end.
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(new_events) = self.new_events.pop_front() {
                return Some(new_events.map_err(|error| self.http.secrets.redact(error)));
            }
            let outcome = match std::mem::replace(&mut self.state, CallState::Over) {
                CallState::Over => return None,
                CallState::Requesting(encoded) => self.send_request(&encoded).await,
                CallState::Answering {
                    body,
                    reading,
                    request_id,
                } => self.read(body, reading, request_id).await,
            };
            match outcome {
                Ok(state) => self.state = state,
                Err(error) => self.new_events.push_back(Err(error)),
            }
        }
    }

    async fn send_request(&mut self, encoded: &Encoded) -> Result<CallState, ModelError> {
        let answer = self.http.post(encoded).await?;
        let status = answer.status;
        tracing::debug!(protocol = self.wire.protocol(), %status, "the provider answers");
        if status.is_success() && answer.is_event_stream() {
            return Ok(CallState::Answering {
                request_id: request_id(&answer.headers),
                body: answer.body,
                reading: AnswerParser::new(self.wire.decoder()),
            });
        }
        let refusal = answer.into_refusal().await;
        let mut error = if status.is_redirection() {
            invalid_response(
                "the provider redirects to another address, to which its key must not be sent; \
                 correct the base URL",
            )
        } else if status.is_success() && !holds_error(&refusal.body) {
            invalid_response("the provider sent something other than an event stream")
        } else {
            self.wire.refusal_error(&refusal)
        };
        // A request that timed out may have been processed.
        if !status.is_success() && error.code != ModelErrorCode::Timeout {
            error = error.with_nothing_used();
        }
        error.status.get_or_insert(refusal.status);
        error.request_id = error.request_id.or(refusal.request_id);
        Err(error)
    }

    async fn read(
        &mut self,
        mut body: Body,
        reading: AnswerParser,
        request_id: Option<String>,
    ) -> Result<CallState, ModelError> {
        let mut events = Vec::new();
        let whole = |reply| ParseProgress::Complete(Box::new(reply));
        let progress = match body.next().await {
            Some(Ok(bytes)) => {
                let progress = reading.push(&bytes, &mut events);
                if events.is_empty() {
                    events.push(ModelEvent::Heartbeat);
                }
                progress
            }
            Some(Err(error)) => reading.fail(error).map(whole),
            None => reading.finish(&mut events).map(whole),
        };
        self.new_events.extend(events.into_iter().map(Ok));
        match progress {
            Ok(ParseProgress::More(reading)) => Ok(CallState::Answering {
                body,
                reading,
                request_id,
            }),
            Ok(ParseProgress::Complete(reply)) => {
                self.new_events.push_back(Ok(ModelEvent::Done(reply)));
                body.drain(DRAIN_TIMEOUT).await;
                Ok(CallState::Over)
            }
            Err(mut error) => {
                error.request_id = error.request_id.or(request_id);
                Err(error)
            }
        }
    }
}

fn invalid_response(message: &str) -> ModelError {
    ModelError::new(ModelErrorCode::InvalidResponse, message)
}

/// Returns whether a body is the JSON of an error, or a list with an error.
fn holds_error(body: &str) -> bool {
    let is_error = |value: &Value| value.get("error").is_some_and(|error| !error.is_null());
    match serde_json::from_str(body) {
        Ok(Value::Array(items)) => items.iter().any(is_error),
        Ok(value) => is_error(&value),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_known_by_its_field() {
        for (body, expected) in [
            (r#"{"type": "error", "error": {"type": "api_error"}}"#, true),
            (r#"[{"error": {"code": 400}}]"#, true),
            (r#"{"error": null, "content": []}"#, false),
            (r#"{"content": "error"}"#, false),
            ("[]", false),
            ("\"error\"", false),
            ("<html>error</html>", false),
            ("", false),
        ] {
            assert_eq!(holds_error(body), expected, "{body}");
        }
    }
}
