//! HTTP responses with complete bodies: the page, JSON and refusals.

use std::convert::Infallible;

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

/// Body of every response.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

const HTML: &str = "text/html; charset=utf-8";

/// The page of a site, with its content security policy.
pub(super) struct Page {
    text: String,
    policy: String,
}

impl Page {
    /// Creates the page with the style sheet of the documents of runs; empty if there are none.
    pub(super) fn new(style: &str) -> Self {
        let text = PAGE.replace("%STYLE%", style);
        let policy = policy(&text, !style.is_empty());
        Self { text, policy }
    }

    /// Returns the page for a cookie that is valid in `folder`, with a cookie on the first visit.
    pub(super) fn respond(&self, folder: &str, cookie: Option<HeaderValue>) -> Response<Body> {
        let text = self.text.replace("%FOLDER%", folder);
        let mut response = full_response(StatusCode::OK, HTML, text);
        let headers = response.headers_mut();
        if let Ok(policy) = HeaderValue::try_from(self.policy.as_str()) {
            headers.insert(CONTENT_SECURITY_POLICY, policy);
        }
        if let Some(cookie) = cookie {
            headers.insert(SET_COOKIE, cookie);
        }
        response
    }
}

/// Returns the document of a run. On its own it is shown without styles, and runs nothing.
pub(super) fn document(text: String) -> Response<Body> {
    full_response(StatusCode::OK, HTML, text)
}

/// Returns a JSON response.
pub(super) fn json(status: StatusCode, text: String) -> Response<Body> {
    full_response(status, "application/json", text)
}

/// Refuses a request and closes the connection. Further bytes of the connection are not read.
pub(super) fn refusal(status: StatusCode, reason: &str) -> Response<Body> {
    let mut response = full_response(status, "text/plain; charset=utf-8", reason.to_owned());
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

/// Sets the security headers of every response: no caching, no content sniffing, no framing and no
/// referrer.
pub(super) fn set_security_headers(headers: &mut HeaderMap) {
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

fn full_response(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(text.into()).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    set_security_headers(headers);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Source of the page: one file without external resources. `%FOLDER%` is replaced by the folder of
/// the cookie, and `%STYLE%` by the style sheet of the documents of runs.
const PAGE: &str = include_str!("page.html");

/// Returns the content security policy of a page. It allows its one script and its one style, by
/// their hashes, and requests to this server. Injected scripts do not run.
///
/// The figures in documents of runs have style attributes, which cannot load anything either.
fn policy(page: &str, has_documents: bool) -> String {
    let script = hash(text_between(page, "<script>", "</script>"));
    let style = hash(text_between(page, "<style>", "</style>"));
    let attributes = if has_documents {
        " style-src-attr 'unsafe-inline';"
    } else {
        ""
    };
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}';{attributes} \
         connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

fn text_between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
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
    fn the_page_has_one_script_one_style_and_no_external_resources() {
        for (part, count) in [
            ("<script", 1),
            ("%FOLDER%", 1),
            ("%STYLE%", 1),
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
        assert!(text_between(PAGE, "<script>", "</script>").len() > 500);
        assert!(text_between(PAGE, "<style>", "</style>").len() > 500);
    }
}
