//! Who is let in.

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap};
use hyper::{Method, StatusCode, Uri};

use super::ViewToken;
use super::folder::{NAME, within};
use super::site::{Site, comes_from, is_ours, text};

/// How somebody came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// With the secret in a header of its own, as programs do.
    Header,
    /// With the secret in the address: a browser at its first visit.
    Address,
    /// With the secret in a cookie, to the folder of the cookie: a browser that was here before.
    Cookie,
}

/// Lets a request in, or says why not.
///
/// # Errors
///
/// `FORBIDDEN` if it was sent to another name than this machine's, or by the page of another site
/// or port; `UNAUTHORIZED` if it does not have the secret.
pub(super) fn enter(
    token: &ViewToken,
    folder: &str,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Entrance, StatusCode> {
    // A browser can be made to believe that the name of a foreign site is this machine. It still
    // says the name that it believes in.
    let host = text(headers, &HOST).filter(|host| is_ours(host));
    let host = host.ok_or(StatusCode::FORBIDDEN)?;

    let (entrance, said) = secret(folder, uri, headers).ok_or(StatusCode::UNAUTHORIZED)?;
    if !token.is(said.as_bytes()) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    match comes_from(headers, host) {
        Site::Another => Err(StatusCode::FORBIDDEN),
        // A browser that would not say whose page it is could be anybody's errand boy.
        Site::Untold if method != Method::GET && entrance != Entrance::Header => {
            Err(StatusCode::FORBIDDEN)
        }
        Site::Ours | Site::Untold => Ok(entrance),
    }
}

/// Returns what a request gives as its secret. What is said last on purpose counts, alone.
fn secret<'r>(folder: &str, uri: &'r Uri, headers: &'r HeaderMap) -> Option<(Entrance, &'r str)> {
    if headers.contains_key(AUTHORIZATION) {
        let said = text(headers, &AUTHORIZATION)?;
        let (scheme, said) = said.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        return is_bearer.then(|| (Entrance::Header, said.trim()));
    }
    if uri.path() == "/" {
        let query = uri.query().unwrap_or_default();
        let said = query
            .split('&')
            .find_map(|part| part.strip_prefix("token="));
        if let Some(said) = said {
            return Some((Entrance::Address, said));
        }
    }
    within(folder, uri.path())?;
    let cookies = headers.get_all(COOKIE).iter();
    let pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    let mut named = pairs.filter_map(|pair| pair.trim().split_once('='));
    let (_, said) = named.find(|(name, _)| *name == NAME)?;
    Some((Entrance::Cookie, said))
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "0123456789abcdef";

    fn tried(request: &str) -> Result<Entrance, StatusCode> {
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
        enter(
            &ViewToken::new(SECRET).expect("long enough"),
            "/v/mine",
            &method.parse().expect("a method"),
            &uri.parse().expect("an address"),
            &headers,
        )
    }

    #[test]
    fn the_secret_lets_in_by_three_ways() {
        for (request, entrance) in [
            (
                "GET /?token=0123456789abcdef\nhost: 127.0.0.1:7",
                Entrance::Address,
            ),
            (
                "GET /?a=b&token=0123456789abcdef\nhost: localhost",
                Entrance::Address,
            ),
            (
                "GET /v/mine/\nhost: [::1]:7\ncookie: autonoe-dashboard=0123456789abcdef",
                Entrance::Cookie,
            ),
            (
                "GET /v/mine/\nhost: localhost:7\ncookie: a=b; autonoe-dashboard=0123456789abcdef",
                Entrance::Cookie,
            ),
            (
                "GET /api/x\nhost: LOCALHOST:7\nauthorization: Bearer 0123456789abcdef",
                Entrance::Header,
            ),
            (
                "POST /api/x\nhost: localhost:7\nauthorization: bearer 0123456789abcdef",
                Entrance::Header,
            ),
            (
                "POST /v/mine/api/x\nhost: localhost:7\norigin: http://localhost:7\ncookie: autonoe-dashboard=0123456789abcdef",
                Entrance::Cookie,
            ),
            // A link in a page of somebody who was told the address.
            (
                "GET /?token=0123456789abcdef\nhost: localhost:7\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate",
                Entrance::Address,
            ),
        ] {
            assert_eq!(tried(request), Ok(entrance), "{request}");
        }
    }

    #[test]
    fn without_the_secret_nobody_comes_in() {
        for request in [
            "GET /\nhost: localhost",
            "GET /?token=\nhost: localhost",
            "GET /?token=0123456789abcdeF\nhost: localhost",
            "GET /api/dashboard?token=0123456789abcdef\nhost: localhost",
            "GET /v/mine/\nhost: localhost\ncookie: yours=0123456789abcdef",
            "GET /v/mine/\nhost: localhost\ncookie: autonoe-dashboard=0",
            // The cookie is for its folder only.
            "GET /\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/mine\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/minex/\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/yours/\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /\nhost: localhost\nauthorization: 0123456789abcdef",
            "GET /\nhost: localhost\nauthorization: Basic 0123456789abcdef",
            // What is said last on purpose counts.
            "GET /?token=0\nhost: localhost\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /v/mine/\nhost: localhost\nauthorization: Bearer 0\ncookie: autonoe-dashboard=0123456789abcdef",
            "GET /\nhost: localhost\nauthorization: Bearer 0123456789abcdef\nauthorization: Bearer 0",
        ] {
            assert_eq!(tried(request), Err(StatusCode::UNAUTHORIZED), "{request}");
        }
    }

    #[test]
    fn other_names_and_pages_of_others_are_turned_away() {
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
        fn no_request_with_arbitrary_words_comes_in(
            query in "[a-z0-9=&%]{0,24}",
            cookie in "[ -~]{0,24}",
            said in "[ -~]{0,24}",
        ) {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("localhost"));
            headers.insert(COOKIE, HeaderValue::try_from(cookie).expect("printable"));
            let uri: Uri = format!("/?{query}").parse().expect("an address");
            let token = ViewToken::random().expect("there is randomness");
            prop_assert!(enter(&token, "/v/mine", &Method::GET, &uri, &headers).is_err());
            headers.insert(AUTHORIZATION, HeaderValue::try_from(said).expect("printable"));
            prop_assert!(enter(&token, "/v/mine", &Method::GET, &uri, &headers).is_err());
        }
    }
}
