//! Authentication of requests, and the URL folder that scopes the session cookie.

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap};
use hyper::{Method, StatusCode, Uri};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::origin::{RequestOrigin, header_text, is_allowed_host, request_origin};
use super::{Exposure, ViewToken};

/// Source of a request's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenSource {
    /// `Authorization` header, as sent by programs.
    Header,
    /// URL, on a browser's first visit.
    Url,
    /// Cookie, on later visits of a browser to the folder of the cookie.
    Cookie,
}

/// Authenticates a request and returns the source of its token.
///
/// # Errors
///
/// `FORBIDDEN` for a host name that is not this machine's, or a request from a page of another site
/// or port. `UNAUTHORIZED` without a valid token.
pub(super) fn authenticate(
    token: &ViewToken,
    folder: &str,
    exposure: &Exposure,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<TokenSource, StatusCode> {
    // DNS rebinding can make a browser resolve a foreign name to this machine. The `Host` header
    // still carries the foreign name.
    let host = header_text(headers, &HOST)
        .filter(|host| is_allowed_host(host, exposure))
        .ok_or(StatusCode::FORBIDDEN)?;

    let (entrance, presented) = secret(folder, uri, headers).ok_or(StatusCode::UNAUTHORIZED)?;
    if !token.matches(presented.as_bytes()) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    match request_origin(headers, host) {
        RequestOrigin::CrossOrigin => Err(StatusCode::FORBIDDEN),
        // Without an origin, a request that changes something could come from any page in the
        // browser.
        RequestOrigin::Unknown if method != Method::GET && entrance != TokenSource::Header => {
            Err(StatusCode::FORBIDDEN)
        }
        RequestOrigin::SameOrigin | RequestOrigin::Unknown => Ok(entrance),
    }
}

/// Returns the token of a request. The most explicit source wins, and the others are ignored.
fn secret<'r>(
    folder: &str,
    uri: &'r Uri,
    headers: &'r HeaderMap,
) -> Option<(TokenSource, &'r str)> {
    if headers.contains_key(AUTHORIZATION) {
        let value = header_text(headers, &AUTHORIZATION)?;
        let (scheme, token) = value.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        return is_bearer.then(|| (TokenSource::Header, token.trim()));
    }
    if uri.path() == "/" {
        let query = uri.query().unwrap_or_default();
        let token = query
            .split('&')
            .find_map(|part| part.strip_prefix("token="));
        if let Some(token) = token {
            return Some((TokenSource::Url, token));
        }
    }
    within(folder, uri.path())?;
    let cookies = headers.get_all(COOKIE).iter();
    let pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    let mut named = pairs.filter_map(|pair| pair.trim().split_once('='));
    let (_, token) = named.find(|(name, _)| *name == NAME)?;
    Some((TokenSource::Cookie, token))
}

/// Name of the cookie.
pub(super) const NAME: &str = "autonoe-dashboard";

/// Returns the URL folder that the cookie is valid for, for example `/v/0a1b..`.
///
/// Browsers send a cookie to all ports of a host, and the watched agents may run servers on other
/// ports of this machine. The folder is unguessable, so none of these servers can make a browser
/// request an address in it and receive the cookie.
pub(super) fn folder(token: &ViewToken) -> String {
    let digest = Sha256::digest(format!("the folder of {}", token.reveal()));
    let name: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("/v/{name}")
}

/// Returns the path relative to the folder, or `None` if it lies outside.
pub(super) fn within<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    let (head, rest) = path.split_at_checked(folder.len())?;
    let is_it: bool = head.as_bytes().ct_eq(folder.as_bytes()).into();
    (is_it && rest.starts_with('/')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn tried(request: &str) -> Result<TokenSource, StatusCode> {
        let mut lines = request.lines().map(str::trim);
        let (method, uri) = lines
            .next()
            .and_then(|line| line.split_once(' '))
            .expect("a line");
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").expect("a header");
            headers.append(
                HeaderName::try_from(name).expect("a name"),
                HeaderValue::try_from(value).expect("a value"),
            );
        }
        authenticate(
            &ViewToken::new(SECRET).expect("long enough"),
            "/v/mine",
            &Exposure::Loopback,
            &method.parse().expect("a method"),
            &uri.parse().expect("an address"),
            &headers,
        )
    }

    #[test]
    fn the_token_is_accepted_from_url_cookie_and_header() {
        for (request, entrance) in [
            (
                "GET /?token=0123456789abcdef\nhost: 127.0.0.1:7",
                TokenSource::Url,
            ),
            (
                "GET /?a=b&token=0123456789abcdef\nhost: localhost",
                TokenSource::Url,
            ),
            (
                "GET /v/mine/\nhost: [::1]:7\ncookie: autonoe-dashboard=0123456789abcdef",
                TokenSource::Cookie,
            ),
            (
                "GET /v/mine/\nhost: localhost:7\ncookie: a=b; autonoe-dashboard=0123456789abcdef",
                TokenSource::Cookie,
            ),
            (
                "GET /api/x\nhost: LOCALHOST:7\nauthorization: Bearer 0123456789abcdef",
                TokenSource::Header,
            ),
            (
                "POST /api/x\nhost: localhost:7\nauthorization: bearer 0123456789abcdef",
                TokenSource::Header,
            ),
            (
                "POST /v/mine/api/x\nhost: localhost:7\norigin: http://localhost:7\ncookie: autonoe-dashboard=0123456789abcdef",
                TokenSource::Cookie,
            ),
            // A link on a page whose author knows the URL.
            (
                "GET /?token=0123456789abcdef\nhost: localhost:7\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate",
                TokenSource::Url,
            ),
        ] {
            assert_eq!(tried(request), Ok(entrance), "{request}");
        }
    }

    #[test]
    fn a_request_without_the_secret_is_rejected() {
        for request in [
            "GET /\nhost: localhost",
            "GET /?token=\nhost: localhost",
            "GET /?token=0123456789abcdeF\nhost: localhost",
            "GET /api/dashboard?token=0123456789abcdef\nhost: localhost",
            "GET /v/mine/\nhost: localhost\ncookie: yours=0123456789abcdef",
            "GET /v/mine/\nhost: localhost\ncookie: autonoe-dashboard=0",
            // The cookie is valid in its folder only.
            "GET /\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/mine\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/minex/\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/yours/\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /\nhost: localhost\nauthorization: 0123456789abcdef",
            "GET /\nhost: localhost\nauthorization: Basic 0123456789abcdef",
            // The most explicit source wins.
            "GET /?token=0\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/mine/\nhost: localhost\nauthorization: Bearer 0\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /\nhost: localhost\nauthorization: Bearer 0123456789abcdef\nauthorization: Bearer 0",
        ] {
            assert_eq!(tried(request), Err(StatusCode::UNAUTHORIZED), "{request}");
        }
    }

    #[test]
    fn rejects_foreign_host_names_and_origins() {
        let cookie = "cookie: autonoe-dashboard=0123456789abcdef";
        let bearer = "authorization: Bearer 0123456789abcdef";
        for (line, headers) in [
            ("GET /v/mine/", cookie.to_owned()),
            ("GET /v/mine/", format!("host: evil.example\n{cookie}")),
            (
                "GET /v/mine/",
                format!("host: localhost.evil.example\n{cookie}"),
            ),
            ("GET /v/mine/", format!("host: localhost:port\n{cookie}")),
            (
                "GET /v/mine/",
                format!("host: localhost\nhost: localhost\n{cookie}"),
            ),
            ("GET /v/mine/", format!("host: 192.168.0.7:80\n{bearer}")),
            ("POST /v/mine/x", format!("host: localhost:7\n{cookie}")),
            (
                "POST /v/mine/x",
                format!("host: localhost:7\norigin: null\n{cookie}"),
            ),
            (
                "POST /v/mine/x",
                format!("host: localhost:7\norigin: http://localhost:8\n{cookie}"),
            ),
            (
                "POST /v/mine/x",
                format!("host: localhost:7\norigin: http://127.0.0.1:7\n{cookie}"),
            ),
            (
                "POST /v/mine/x",
                format!("host: localhost:7\norigin: https://localhost:7\n{cookie}"),
            ),
            (
                "POST /v/mine/x",
                format!("host: localhost:7\norigin: http://evil.example\n{bearer}"),
            ),
            (
                "GET /v/mine/api/x",
                format!("host: localhost:7\nsec-fetch-site: same-site\n{cookie}"),
            ),
            (
                "GET /v/mine/api/x",
                format!("host: localhost:7\nsec-fetch-site: cross-site\n{bearer}"),
            ),
            (
                "POST /v/mine/x",
                format!(
                    "host: localhost:7\norigin: http://localhost:7\nsec-fetch-site: cross-site\n{cookie}"
                ),
            ),
            (
                "POST /v/mine/x",
                format!(
                    "host: localhost:7\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate\n{cookie}"
                ),
            ),
        ] {
            let request = format!("{line}\n{headers}");
            assert_eq!(tried(&request), Err(StatusCode::FORBIDDEN), "{request}");
        }
    }

    proptest! {
        #[test]
        fn random_credentials_are_rejected(
            query in "[a-z0-9=&%]{0,24}",
            cookie in "[ -~]{0,24}",
            value in "[ -~]{0,24}",
        ) {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("localhost"));
            headers.insert(COOKIE, HeaderValue::try_from(cookie).expect("printable"));
            let uri: Uri = format!("/?{query}").parse().expect("an address");
            let token = ViewToken::random().expect("there is randomness");
            prop_assert!(authenticate(&token, "/v/mine", &Exposure::Loopback, &Method::GET, &uri, &headers).is_err());
            headers.insert(AUTHORIZATION, HeaderValue::try_from(value).expect("printable"));
            prop_assert!(authenticate(&token, "/v/mine", &Exposure::Loopback, &Method::GET, &uri, &headers).is_err());
        }
    }

    #[test]
    fn view_folder_is_unique_and_does_not_reveal_the_token() {
        let folders = ["0123456789abcdef", "0123456789abcdeF"].map(|secret| {
            let token = ViewToken::new(secret).expect("long enough");
            assert_eq!(folder(&token), folder(&token));
            assert!(!folder(&token).contains(secret));
            folder(&token)
        });

        assert_ne!(folders[0], folders[1]);
        assert_eq!(folders[0].len(), "/v/".len() + 32);
    }
}
