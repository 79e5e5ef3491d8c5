//! Request handler of the HTTP server: authenticates, dispatches and answers one request.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Body as _, Frame, Incoming as Receiving};
use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::ErrorData;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::auth::authenticate;
use super::limits::HttpLimits;
use super::sessions::{Served, Sessions};
use crate::protocol::{Call, Incoming, Reply, VERSIONS, error_response, parse_message};
use crate::token::random_name;

const CLIENT: HeaderName = HeaderName::from_static("mcp-session-id");

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Handles one request. Refusals become responses, too.
pub(super) async fn answer(
    sessions: &Sessions,
    limits: &HttpLimits,
    request: Request<Receiving>,
) -> Response<Body> {
    let answered = match authenticate(sessions, request.uri(), request.headers()) {
        Err(status) => Err(status),
        Ok(served) => match *request.method() {
            Method::POST => post(&served, limits, request).await,
            Method::DELETE => remove_client(&served, request.headers()),
            // GET would open a stream of server messages, and the server sends none of its own
            // accord.
            _ => Err(StatusCode::METHOD_NOT_ALLOWED),
        },
    };
    answered.unwrap_or_else(|status| {
        tracing::debug!(
            status = status.as_u16(),
            "refused a request to the tool server"
        );
        refusal(status)
    })
}

fn remove_client(served: &Served, headers: &HeaderMap) -> Result<Response<Body>, StatusCode> {
    let id = headers.get(CLIENT).ok_or(StatusCode::BAD_REQUEST)?;
    if served.clients.remove(id.as_bytes()) {
        Ok(empty(StatusCode::NO_CONTENT))
    } else {
        Err(StatusCode::NOT_FOUND)
    }
}

async fn post(
    served: &Arc<Served>,
    limits: &HttpLimits,
    request: Request<Receiving>,
) -> Result<Response<Body>, StatusCode> {
    let (head, body) = request.into_parts();
    if !is_json(head.headers.get(CONTENT_TYPE)) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let accepted = accepted(&head.headers).ok_or(StatusCode::NOT_ACCEPTABLE)?;
    let text = receive(body, limits).await?;
    let incoming = match parse_message(&text) {
        Ok(incoming) => incoming,
        Err(answer) => return Ok(json(StatusCode::BAD_REQUEST, &answer)),
    };
    if !is_supported(head.headers.get(VERSION)) && !is_discovery(&incoming) {
        let error = ErrorData::invalid_request("this protocol version is not supported", None);
        let answer = error_response(incoming.id(), &error);
        return Ok(json(StatusCode::BAD_REQUEST, &answer));
    }
    let is_initialize =
        matches!(&incoming, Incoming::Request { method, .. } if method == "initialize");
    let id = head.headers.get(CLIENT).filter(|_| !is_initialize);
    let calls = served
        .clients
        .calls(id.map(HeaderValue::as_bytes))
        .ok_or(StatusCode::NOT_FOUND)?;
    match served.handler.handle(&calls, incoming) {
        Reply::Nothing => Ok(empty(StatusCode::ACCEPTED)),
        Reply::Answer(answer) if is_initialize && answer.get("result").is_some() => {
            initialized(served, &answer)
        }
        Reply::Answer(answer) => Ok(json(StatusCode::OK, &answer)),
        Reply::Call(call) => match accepted {
            Accepted::Events => Ok(stream_call(*call, limits.keep_alive)),
            Accepted::Json => {
                // Dropped with the connection, which cancels the call.
                let _guard = call.cancellation().drop_guard();
                match call.run(|_| ()).await {
                    Some(answer) => Ok(json(StatusCode::OK, &answer)),
                    None => Ok(empty(StatusCode::ACCEPTED)),
                }
            }
        },
    }
}

/// Responds to `initialize` and assigns the client an ID.
fn initialized(served: &Served, answer: &Value) -> Result<Response<Body>, StatusCode> {
    let failed = |_| StatusCode::INTERNAL_SERVER_ERROR;
    let id = random_name().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let header = HeaderValue::try_from(id.as_str()).map_err(failed)?;
    served.clients.add(id);
    let mut response = json(StatusCode::OK, answer);
    response.headers_mut().insert(CLIENT, header);
    Ok(response)
}

/// Reads a request body up to the limits on size and time.
async fn receive(body: Receiving, limits: &HttpLimits) -> Result<Bytes, StatusCode> {
    // A declared length above the limit is refused without reading the body.
    let least = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if least > limits.body_bytes {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let whole = Limited::new(body, limits.body_bytes).collect();
    match timeout(limits.read_time, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

/// Response format that a client accepts for a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accepted {
    /// Server-sent events: progress notifications, then the answer.
    Events,
    /// A single JSON document without progress.
    Json,
}

fn accepted(headers: &HeaderMap) -> Option<Accepted> {
    let mut types = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim())
        .peekable();
    // A missing `Accept` header accepts everything.
    if types.peek().is_none() {
        return Some(Accepted::Json);
    }
    let types: Vec<_> = types.map(str::to_ascii_lowercase).collect();
    let accepts = |kind: &str| types.iter().any(|one| one == kind);
    if accepts("text/event-stream") {
        return Some(Accepted::Events);
    }
    let json = accepts("application/json") || accepts("application/*") || accepts("*/*");
    json.then_some(Accepted::Json)
}

fn is_json(kind: Option<&HeaderValue>) -> bool {
    let kind = kind
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Returns whether the protocol version is supported. Clients of the oldest versions send no
/// version header.
fn is_supported(version: Option<&HeaderValue>) -> bool {
    let Some(version) = version else { return true };
    let mut known = VERSIONS.iter();
    known.any(|known| known.as_str().as_bytes() == version.as_bytes())
}

/// Returns whether a client of a later protocol version probes for supported versions. The error
/// "no such method" makes it fall back to `initialize`.
fn is_discovery(incoming: &Incoming) -> bool {
    matches!(incoming, Incoming::Request { method, .. } if method == "server/discover")
}

/// Body of every response.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Returns a response with a JSON body.
pub(super) fn json(status: StatusCode, message: &Value) -> Response<Body> {
    let mut response = with(status, message.to_string());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns a response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    with(status, String::new())
}

/// Refuses a request and closes the connection. Further bytes of the connection are not read.
pub(super) fn refusal(status: StatusCode) -> Response<Body> {
    let mut response = with(
        status,
        status.canonical_reason().unwrap_or_default().to_owned(),
    );
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
        }
        _ => {}
    }
    response
}

fn with(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed_unsync());
    *response.status_mut() = status;
    response
}

/// Events queued for a slow reader. Progress notifications are dropped when the queue is full.
const QUEUE_LEN: usize = 64;

/// Runs a call and streams its progress and its answer. The call is cancelled when the client
/// disconnects.
pub(super) fn stream_call(call: Call, keep_alive: Duration) -> Response<Body> {
    let (pieces, read) = mpsc::channel::<Bytes>(QUEUE_LEN);
    tokio::spawn(run_call(call, pieces, keep_alive));
    let body = futures::stream::unfold(read, async |mut read| {
        let piece = read.recv().await?;
        Some((Ok(Frame::data(piece)), read))
    });
    let mut response = Response::new(StreamBody::new(body).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

async fn run_call(call: Call, pieces: mpsc::Sender<Bytes>, keep_alive: Duration) {
    let cancellation = call.cancellation();
    let progress = pieces.clone();
    let work = call.run(move |note| {
        let _ = progress.try_send(event(&note));
    });
    tokio::pin!(work);
    let mut alive = interval(keep_alive);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick fires at once and tells the client that its call has started.
    let answer = loop {
        tokio::select! {
            biased;
            answer = &mut work => break answer,
            () = pieces.closed(), if !cancellation.is_cancelled() => cancellation.cancel(),
            _ = alive.tick() => {
                let _ = pieces.try_send(Bytes::from_static(b":\n\n"));
            }
        }
    };
    if let Some(answer) = answer {
        let _ = pieces.send(event(&answer)).await;
    }
}

/// Formats a message as a server-sent event. JSON escapes line breaks, so one `data` line is
/// enough.
fn event(message: &Value) -> Bytes {
    Bytes::from(format!("event: message\ndata: {message}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_a_format_that_the_client_accepts() {
        for (accept, expected) in [
            (None, Some(Accepted::Json)),
            (
                Some("application/json, text/event-stream"),
                Some(Accepted::Events),
            ),
            (Some("text/event-stream"), Some(Accepted::Events)),
            (Some("application/json;q=0.9"), Some(Accepted::Json)),
            (Some("*/*"), Some(Accepted::Json)),
            (Some("text/html"), None),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(ACCEPT, HeaderValue::from_static(accept));
            }

            assert_eq!(accepted(&headers), expected, "{accept:?}");
        }
    }

    #[test]
    fn only_json_in_a_known_version_is_read() {
        let value = HeaderValue::from_static;
        assert!(is_json(Some(&value("application/json; charset=utf-8"))));
        assert!(!is_json(Some(&value("application/jsonl"))));
        assert!(!is_json(None));
        assert!(is_supported(None));
        assert!(is_supported(Some(&value("2025-06-18"))));
        assert!(!is_supported(Some(&value("2026-07-28"))));
    }
}
