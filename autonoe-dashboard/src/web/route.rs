//! What an address means.

use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;

use crate::MemberId;

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
    use super::*;

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
