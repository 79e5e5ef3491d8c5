//! Responses that are whole at once.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::Value;

/// What responses carry.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Sends a message.
pub(super) fn json(status: StatusCode, message: &Value) -> Response<Body> {
    let mut response = with(status, message.to_string());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Says nothing but how it went.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    with(status, String::new())
}

/// Refuses a request, and talks no more on this connection: what follows in it is not read.
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
