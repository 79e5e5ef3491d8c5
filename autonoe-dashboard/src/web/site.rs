//! Where a request is sent to, and whose page sends it.

use hyper::header::{HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;

use crate::MemberId;

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

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The page.
    Page,
    /// The newest snapshot.
    Dashboard,
    /// Snapshots as they come.
    Events,
    /// Something that is to be done with a member.
    Act { member: MemberId, verb: Verb },
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Pause,
    Resume,
    Stop,
    Kill,
    Instruct,
}

/// Returns what a request is for.
///
/// # Errors
///
/// `NOT_FOUND`, or `METHOD_NOT_ALLOWED` for a known address.
pub(super) fn route(method: &Method, path: &str) -> Result<Route, StatusCode> {
    let (known, wanted) = match path {
        "/" => (Route::Page, Method::GET),
        "/api/dashboard" => (Route::Dashboard, Method::GET),
        "/api/events" => (Route::Events, Method::GET),
        _ => (act(path).ok_or(StatusCode::NOT_FOUND)?, Method::POST),
    };
    match *method == wanted {
        true => Ok(known),
        false => Err(StatusCode::METHOD_NOT_ALLOWED),
    }
}

fn act(path: &str) -> Option<Route> {
    let (member, verb) = path.strip_prefix("/api/members/")?.split_once('/')?;
    let verb = match verb {
        "pause" => Verb::Pause,
        "resume" => Verb::Resume,
        "stop" => Verb::Stop,
        "kill" => Verb::Kill,
        "instruct" => Verb::Instruct,
        _ => return None,
    };
    let member = percent_decode_str(member).decode_utf8().ok()?;
    let member = MemberId::new(member);
    Some(Route::Act { member, verb })
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

    #[test]
    fn addresses_mean_what_the_documentation_says() {
        let act = |member: &str, verb| {
            let member = member.into();
            Ok(Route::Act { member, verb })
        };
        let not_found = || Err(StatusCode::NOT_FOUND);
        let not_allowed = || Err(StatusCode::METHOD_NOT_ALLOWED);
        for (method, path, expected) in [
            ("GET", "/", Ok(Route::Page)),
            ("GET", "/api/dashboard", Ok(Route::Dashboard)),
            ("GET", "/api/events", Ok(Route::Events)),
            ("POST", "/api/members/api/pause", act("api", Verb::Pause)),
            ("POST", "/api/members/api/resume", act("api", Verb::Resume)),
            ("POST", "/api/members/api/stop", act("api", Verb::Stop)),
            ("POST", "/api/members/api/kill", act("api", Verb::Kill)),
            (
                "POST",
                "/api/members/api/instruct",
                act("api", Verb::Instruct),
            ),
            (
                "POST",
                "/api/members/a%2Fb%20c/stop",
                act("a/b c", Verb::Stop),
            ),
            ("POST", "/", not_allowed()),
            ("DELETE", "/api/dashboard", not_allowed()),
            ("GET", "/api/members/api/kill", not_allowed()),
            ("GET", "/index.html", not_found()),
            ("GET", "/api", not_found()),
            ("GET", "/api/dashboard/", not_found()),
            ("POST", "/api/members/api", not_found()),
            ("POST", "/api/members/api/explode", not_found()),
            ("POST", "/api/members/a/b/stop", not_found()),
            ("POST", "/api/members/%ff/stop", not_found()),
            ("GET", "/../etc/passwd", not_found()),
        ] {
            let method = method.parse().expect("a method");
            assert_eq!(route(&method, path), expected, "{method} {path}");
        }
    }
}
