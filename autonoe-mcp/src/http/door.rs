//! Who is let in.

use std::sync::Arc;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{StatusCode, Uri};

use super::sessions::{Served, Sessions};

/// Names of this machine that no other site can claim for itself.
const OURS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Returns the session that a request is for.
///
/// # Errors
///
/// It has not the secret of that session, or comes by the way of another site. To who has no
/// secret it is not told which sessions there are.
pub(super) fn enter(
    sessions: &Sessions,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Arc<Served>, StatusCode> {
    let said = secret(headers).ok_or(StatusCode::UNAUTHORIZED)?;
    let served = sessions
        .at(uri.path())
        .filter(|served| served.token.is(said))
        .ok_or(StatusCode::UNAUTHORIZED)?;
    match is_from_here(headers) {
        true => Ok(served),
        false => Err(StatusCode::FORBIDDEN),
    }
}

/// Returns what a request gives as its secret.
fn secret(headers: &HeaderMap) -> Option<&[u8]> {
    let said = only(headers, &AUTHORIZATION)?.as_bytes();
    let (scheme, secret) = said.split_at_checked(7)?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| secret.trim_ascii())
}

/// Tells whether a request was sent to this machine by its own name, and by no page of another.
///
/// A browser can be made to believe that the name of a foreign site is this machine. It still
/// says the name that it believes in.
fn is_from_here(headers: &HeaderMap) -> bool {
    let host = only(headers, &HOST).and_then(|host| host.to_str().ok());
    let to_us = host.is_some_and(is_ours);
    let from_us = match headers.contains_key(ORIGIN) {
        false => true,
        true => {
            let origin = only(headers, &ORIGIN).and_then(|origin| origin.to_str().ok());
            let site = origin.and_then(|origin| {
                let scheme = origin.strip_prefix("http://");
                scheme.or_else(|| origin.strip_prefix("https://"))
            });
            site.is_some_and(is_ours)
        }
    };
    to_us && from_us
}

/// Tells whether `authority` is this machine, with or without a port.
fn is_ours(authority: &str) -> bool {
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

/// Returns a header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
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

    fn headers(said: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            headers.append(
                HeaderName::try_from(*name).expect("a name"),
                HeaderValue::try_from(*value).expect("a value"),
            );
        }
        headers
    }

    #[test]
    fn a_secret_is_given_once_and_as_a_bearer() {
        let found = |said: &[(&str, &str)]| secret(&headers(said)).map(<[u8]>::to_vec);

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
        for (said, from_here) in [
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
            assert_eq!(is_from_here(&headers(said)), from_here, "{said:?}");
        }
    }

    proptest! {
        #[test]
        fn no_name_but_ours_is_ours(name in "[a-zA-Z0-9.:\\[\\]-]{0,24}") {
            let bare = name.rsplit_once(':').map_or(name.as_str(), |(bare, _)| bare);
            let known = |text: &str| OURS.iter().any(|ours| ours.eq_ignore_ascii_case(text));
            prop_assert!(!is_ours(&name) || known(bare) || known(&name));
        }
    }
}
