//! Origin checks and routing of requests.

use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::header::{HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;

use crate::{MemberRowId, RunPageAction};

/// Machines that can reach the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// Only this machine.
    #[default]
    Loopback,
    /// The network. The connection is not encrypted, so anyone with access to it can read the
    /// token.
    Network {
        /// Host names under which browsers may address the server, besides IP addresses and the
        /// names of the loopback interface.
        names: Vec<String>,
    },
}

/// Host names of the loopback interface. No other site can claim them.
const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Header in which a browser states the relation between the requesting page and this server.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Origin of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOrigin {
    SameOrigin,
    CrossOrigin,
    /// Unknown: the request comes from a program, or from no page.
    Unknown,
}

pub(super) fn request_origin(headers: &HeaderMap, host: &str) -> RequestOrigin {
    let origin = headers.contains_key(ORIGIN).then(|| {
        let origin =
            header_text(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host))
    });
    // `none` is a typed address; a page on another port of this machine is `same-site`.
    let fetched = headers.contains_key(FETCH_SITE).then(|| {
        matches!(
            header_text(headers, &FETCH_SITE),
            Some("same-origin" | "none")
        )
    });
    // A user who follows a link to the page comes from another site and has the token in the URL.
    // Such a request changes nothing and has no `Origin` header.
    let is_link = headers
        .get("sec-fetch-mode")
        .is_some_and(|mode| mode == "navigate");
    match (origin, fetched) {
        (Some(false), _) => RequestOrigin::CrossOrigin,
        (None, Some(false)) if is_link => RequestOrigin::Unknown,
        (_, Some(false)) => RequestOrigin::CrossOrigin,
        (Some(true), _) => RequestOrigin::SameOrigin,
        (None, _) => RequestOrigin::Unknown,
    }
}

/// Returns whether `authority` is a loopback name, with or without a port. Any port is accepted,
/// because a tunnel may use a different one.
pub(super) fn is_loopback(authority: &str) -> bool {
    let is_port = |rest: &str| {
        let port = rest.strip_prefix(':');
        rest.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    LOOPBACK_NAMES.into_iter().any(|name| {
        let head = authority.get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name))
            && is_port(&authority[name.len()..])
    })
}

/// Returns whether a browser may address the server as `authority`.
pub(super) fn is_allowed_host(authority: &str, exposure: &Exposure) -> bool {
    let Exposure::Network { names } = exposure else {
        return is_loopback(authority);
    };
    if is_loopback(authority) {
        return true;
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, "")) => return host.parse::<Ipv6Addr>().is_ok(),
            Some((host, port)) => match port.strip_prefix(':') {
                Some(port) if host.parse::<Ipv6Addr>().is_ok() => {
                    return port.parse::<u16>().is_ok();
                }
                _ => return false,
            },
            None => return false,
        },
        None => authority
            .rsplit_once(':')
            .map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    // DNS rebinding needs a name, so an address is always the server's own.
    let is_known = host.parse::<Ipv4Addr>().is_ok()
        || names.iter().any(|name| name.eq_ignore_ascii_case(host));
    is_known && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// Returns a header's text, or `None` unless the header occurs exactly once.
pub(super) fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => HeaderValue::to_str(value).ok(),
        _ => None,
    }
}

/// Target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The page.
    Page,
    /// The newest snapshot.
    Dashboard,
    /// Stream of snapshots.
    Events,
    /// The newest snapshot of the run.
    Run,
    /// The document of the run.
    RunDocument,
    /// Action on the run.
    ActOnRun(RunPageAction),
    /// Action on a member.
    Act { member: MemberRowId, verb: Verb },
}

/// Action of a request, without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Pause,
    Resume,
    Stop,
    Kill,
    Instruct,
}

/// Returns the target of a request.
///
/// # Errors
///
/// `NOT_FOUND` for an unknown address, or `METHOD_NOT_ALLOWED` for a known one.
pub(super) fn route(method: &Method, path: &str) -> Result<Route, StatusCode> {
    let (known, expected_method) = match path {
        "/" => (Route::Page, Method::GET),
        "/api/dashboard" => (Route::Dashboard, Method::GET),
        "/api/events" => (Route::Events, Method::GET),
        "/api/run" => (Route::Run, Method::GET),
        "/run.html" => (Route::RunDocument, Method::GET),
        "/api/run/pause" => (Route::ActOnRun(RunPageAction::Pause), Method::POST),
        "/api/run/resume" => (Route::ActOnRun(RunPageAction::Resume), Method::POST),
        "/api/run/stop" => (Route::ActOnRun(RunPageAction::Stop), Method::POST),
        "/api/run/instruct" => (Route::ActOnRun(RunPageAction::Instruct), Method::POST),
        _ => (act(path).ok_or(StatusCode::NOT_FOUND)?, Method::POST),
    };
    if *method == expected_method {
        Ok(known)
    } else {
        Err(StatusCode::METHOD_NOT_ALLOWED)
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
    let member = MemberRowId::new(member);
    Some(Route::Act { member, verb })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_loopback_host_names_are_accepted(name in "[a-zA-Z0-9.:\\[\\]-]{0,24}") {
            let bare = name.rsplit_once(':').map_or(name.as_str(), |(bare, _)| bare);
            let known =
                |text: &str| LOOPBACK_NAMES.iter().any(|it| it.eq_ignore_ascii_case(text));
            prop_assert!(!is_loopback(&name) || known(bare) || known(&name));
        }
    }

    proptest! {
        #[test]
        fn on_the_network_only_addresses_and_listed_names_are_accepted(
            name in "[a-zA-Z0-9.:\\[\\]-]{0,24}",
        ) {
            let exposure = Exposure::Network { names: vec!["phone.home".to_owned()] };
            let bare = name.rsplit_once(':').map_or(name.as_str(), |(bare, _)| bare);
            let is_address = |text: &str| {
                let text = text.trim_start_matches('[').trim_end_matches(']');
                text.parse::<std::net::IpAddr>().is_ok()
            };
            let is_known = is_loopback(&name) || is_address(bare) || is_address(&name)
                || bare.eq_ignore_ascii_case("phone.home");
            prop_assert!(!is_allowed_host(&name, &exposure) || is_known);
            prop_assert!(!is_allowed_host(&name, &Exposure::Loopback) || is_loopback(&name));
        }
    }

    #[test]
    fn on_the_network_a_host_must_be_an_address_or_listed() {
        let exposure = Exposure::Network {
            names: vec!["phone.home".to_owned()],
        };
        for (host, expected) in [
            ("192.168.0.7", true),
            ("192.168.0.7:80", true),
            ("[fe80::1]", true),
            ("[fe80::1]:80", true),
            ("localhost:7", true),
            ("PHONE.home:7", true),
            ("phone.home", true),
            ("phone.home.evil.example", false),
            ("evil.example:80", false),
            ("192.168.0.7.evil.example", false),
            ("192.168.0.7:port", false),
            ("[fe80::1]x", false),
            ("[evil.example]", false),
            ("fe80::1", false),
            ("", false),
        ] {
            assert_eq!(is_allowed_host(host, &exposure), expected, "{host}");
        }
    }

    #[test]
    fn requests_map_to_documented_routes() {
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
            ("GET", "/api/run", Ok(Route::Run)),
            ("GET", "/run.html", Ok(Route::RunDocument)),
            (
                "POST",
                "/api/run/stop",
                Ok(Route::ActOnRun(RunPageAction::Stop)),
            ),
            (
                "POST",
                "/api/run/instruct",
                Ok(Route::ActOnRun(RunPageAction::Instruct)),
            ),
            ("GET", "/api/run/stop", not_allowed()),
            ("POST", "/api/run", not_allowed()),
            ("POST", "/run.html", not_allowed()),
            ("POST", "/api/run/kill", not_found()),
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
