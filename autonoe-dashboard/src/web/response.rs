//! Responses that are whole at once.

use std::convert::Infallible;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
    HeaderValue, REFERRER_POLICY, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use sha2::{Digest, Sha256};

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

/// The page: one file, without anything from elsewhere. `%FOLDER%` stands for where its cookie is for.
const PAGE: &str = include_str!("page.html");

/// Returns the page for a browser whose cookie is for `folder`.
pub(super) fn page_in(folder: &str) -> String {
    PAGE.replace("%FOLDER%", folder)
}

/// What a browser may do with the page: its one script and its one style, by their hashes, and
/// requests to this server. Nothing that gets into the page by mistake runs.
pub(super) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let script = hash(within(PAGE, "<script>", "</script>"));
    let style = hash(within(PAGE, "<style>", "</style>"));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; \
         connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
});

fn within<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let after = page.split_once(from).map_or("", |(_, after)| after);
    after.split_once(to).map_or("", |(within, _)| within)
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_script_one_style_and_nothing_from_elsewhere() {
        for (part, count) in [
            ("<script", 1),
            ("%FOLDER%", 1),
            ("<style", 1),
            ("http:", 0),
            ("https:", 0),
            ("//cdn", 0),
            ("src=", 0),
            ("innerHTML", 0),
            ("outerHTML", 0),
            ("insertAdjacentHTML", 0),
            ("document.write", 0),
            ("eval(", 0),
            (" onclick=", 0),
            (" style=", 0),
        ] {
            assert_eq!(PAGE.matches(part).count(), count, "{part}");
        }
        assert!(within(PAGE, "<script>", "</script>").len() > 500);
        assert!(within(PAGE, "<style>", "</style>").len() > 500);
    }
}
