//! Responses that are whole at once.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
    HeaderValue, REFERRER_POLICY, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

use super::page::{POLICY, page_in};

/// What responses carry.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Sends the page, and a cookie with it at the first visit.
pub(super) fn page(folder: &str, cookie: Option<HeaderValue>) -> Response<Body> {
    let kind = "text/html; charset=utf-8";
    let mut response = whole(StatusCode::OK, kind, page_in(folder));
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::try_from(POLICY.as_str()) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    if let Some(cookie) = cookie {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

/// Sends JSON.
pub(super) fn json(status: StatusCode, text: String) -> Response<Body> {
    whole(status, "application/json", text)
}

/// Refuses a request, and talks no more on this connection: what follows in it is not read.
pub(super) fn refusal(status: StatusCode, why: &str) -> Response<Body> {
    let mut response = whole(status, "text/plain; charset=utf-8", why.to_owned());
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static("GET, POST"));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("2"));
        }
        _ => {}
    }
    response
}

/// Says what holds for everything that is sent: nobody keeps it, guesses what it is, frames it or
/// is told where it came from.
pub(super) fn guard(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    );
    for name in ["cross-origin-resource-policy", "cross-origin-opener-policy"] {
        headers.insert(name, HeaderValue::from_static("same-origin"));
    }
}

fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(text.into()).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    guard(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
