//! Where a request is sent to, and whose page sends it.

use hyper::header::{HeaderMap, HeaderName, HeaderValue, ORIGIN};

/// Names of this machine that no other site can claim for itself.
const OURS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// What a browser says of who made it send a request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whose page made a browser send a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    Ours,
    Another,
    /// It is not said: no page, or a program.
    Untold,
}

pub(super) fn comes_from(headers: &HeaderMap, host: &str) -> Site {
    let origin = headers.contains_key(ORIGIN).then(|| {
        let origin = text(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host))
    });
    // Typing an address is `none`; a page of another port of this machine is `same-site`.
    let fetched = headers
        .contains_key(FETCH_SITE)
        .then(|| matches!(text(headers, &FETCH_SITE), Some("same-origin" | "none")));
    // Whoever follows a link to the page is sent by another site, and has the secret in the
    // address. Such a request changes nothing and has no origin.
    let is_link = headers
        .get("sec-fetch-mode")
        .is_some_and(|mode| mode == "navigate");
    match (origin, fetched) {
        (Some(false), _) => Site::Another,
        (None, Some(false)) if is_link => Site::Untold,
        (_, Some(false)) => Site::Another,
        (Some(true), _) => Site::Ours,
        (None, _) => Site::Untold,
    }
}

/// Tells whether `authority` is this machine, with or without a port. Which port does not matter:
/// a tunnel may have another one at its end.
pub(super) fn is_ours(authority: &str) -> bool {
    let is_port = |rest: &str| {
        let port = rest.strip_prefix(':');
        rest.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    OURS.into_iter().any(|name| {
        let head = authority.get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name))
            && is_port(&authority[name.len()..])
    })
}

/// Returns a header that is there once and is text.
pub(super) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => HeaderValue::to_str(value).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_name_but_ours_is_ours(name in "[a-zA-Z0-9.:\\[\\]-]{0,24}") {
            let bare = name.rsplit_once(':').map_or(name.as_str(), |(bare, _)| bare);
            let known = |text: &str| OURS.iter().any(|ours| ours.eq_ignore_ascii_case(text));
            prop_assert!(!is_ours(&name) || known(bare) || known(&name));
        }
    }
}
