//! Authentication of requests: loopback host, same origin and the session's bearer token.

use std::sync::Arc;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{StatusCode, Uri};

use super::sessions::{Served, Sessions};

/// Host names of the loopback interface. No other site can claim them.
const LOOPBACK_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Returns the session that a request addresses.
///
/// # Errors
///
/// `UNAUTHORIZED` without the secret of that session, `FORBIDDEN` for a request from another site.
/// A client without a secret cannot find out which sessions exist.
pub(super) fn authenticate(
    sessions: &Sessions,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Arc<Served>, StatusCode> {
    let presented = secret(headers).ok_or(StatusCode::UNAUTHORIZED)?;
    let served = sessions
        .find(uri.path())
        .filter(|served| served.token.matches(presented))
        .ok_or(StatusCode::UNAUTHORIZED)?;
    if is_local_request(headers) {
        Ok(served)
    } else {
        Err(StatusCode::FORBIDDEN)
    }
}

/// Returns the bearer token of a request.
fn secret(headers: &HeaderMap) -> Option<&[u8]> {
    let value = single_value(headers, &AUTHORIZATION)?.as_bytes();
    let (scheme, secret) = value.split_at_checked(7)?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| secret.trim_ascii())
}

/// Returns whether a request addresses this machine by a loopback name and does not come from
/// another site's page.
///
/// DNS rebinding can make a browser resolve a foreign name to this machine. The `Host` header still
/// carries the foreign name.
fn is_local_request(headers: &HeaderMap) -> bool {
    let host = single_value(headers, &HOST).and_then(|host| host.to_str().ok());
    let to_us = host.is_some_and(is_loopback);
    let from_us = if headers.contains_key(ORIGIN) {
        let origin = single_value(headers, &ORIGIN).and_then(|origin| origin.to_str().ok());
        let site = origin.and_then(|origin| {
            let scheme = origin.strip_prefix("http://");
            scheme.or_else(|| origin.strip_prefix("https://"))
        });
        site.is_some_and(is_loopback)
    } else {
        true
    };
    to_us && from_us
}

/// Returns whether `authority` is a loopback name, with or without a port.
fn is_loopback(authority: &str) -> bool {
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

/// Returns a header's value, or `None` unless the header occurs exactly once.
fn single_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers(fields: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(
                HeaderName::try_from(*name).expect("a name"),
                HeaderValue::try_from(*value).expect("a value"),
            );
        }
        headers
    }

    #[test]
    fn a_secret_must_be_one_bearer_header() {
        let found = |fields: &[(&str, &str)]| secret(&headers(fields)).map(<[u8]>::to_vec);

        assert_eq!(found(&[("authorization", "Bearer x")]), Some(b"x".to_vec()));
        assert_eq!(
            found(&[("authorization", "bearer  x ")]),
            Some(b"x".to_vec())
        );
        for refused in [
            &[][..],
            &[("authorization", "x")],
            &[("authorization", "Basic x=")],
            &[("authorization", "Bearer")],
            &[("authorization", "Bearer x"), ("authorization", "Bearer x")],
            &[("x-authorization", "Bearer x")],
        ] {
            assert_eq!(found(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn only_requests_to_this_machine_by_its_own_pages_or_none_are_from_here() {
        for (fields, from_here) in [
            (&[("host", "127.0.0.1:80")][..], true),
            (&[("host", "LOCALHOST")], true),
            (&[("host", "[::1]:7")], true),
            (
                &[("host", "localhost:7"), ("origin", "http://localhost:7")],
                true,
            ),
            (
                &[("host", "localhost:7"), ("origin", "https://127.0.0.1")],
                true,
            ),
            (&[], false),
            (&[("host", "evil.example")], false),
            (&[("host", "localhost.evil.example")], false),
            (&[("host", "127.0.0.1.evil.example")], false),
            (&[("host", "localhost:port")], false),
            (&[("host", "localhost"), ("host", "localhost")], false),
            (
                &[("host", "localhost"), ("origin", "http://evil.example")],
                false,
            ),
            (
                &[
                    ("host", "localhost"),
                    ("origin", "http://localhost.evil.example"),
                ],
                false,
            ),
            (&[("host", "localhost"), ("origin", "null")], false),
            (&[("host", "localhost"), ("origin", "")], false),
            (
                &[("host", "localhost"), ("origin", "file://localhost")],
                false,
            ),
        ] {
            assert_eq!(is_local_request(&headers(fields)), from_here, "{fields:?}");
        }
    }

    proptest! {
        #[test]
        fn only_loopback_host_names_are_accepted(name in "[a-zA-Z0-9.:\\[\\]-]{0,24}") {
            let bare = name.rsplit_once(':').map_or(name.as_str(), |(bare, _)| bare);
            let known =
                |text: &str| LOOPBACK_NAMES.iter().any(|it| it.eq_ignore_ascii_case(text));
            prop_assert!(!is_loopback(&name) || known(bare) || known(&name));
        }
    }
}
