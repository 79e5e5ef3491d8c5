//! Strict parser for web URLs.

use crate::gate::lexical_path::percent::percent_decoded;

/// A web URL whose parts are unambiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url<'a> {
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// Host in lower case, without the port.
    pub(super) host: String,
    /// Port, explicit or implied.
    pub(super) port: u16,
    /// Path with query and fragment, starting with `/`.
    pub(super) rest: std::borrow::Cow<'a, str>,
}

impl<'a> Url<'a> {
    /// Parses `text`, or returns `None` if clients could interpret it differently.
    ///
    /// Clients repair URLs: they drop tabs, turn `\` into `/` and decode hosts. This parser rejects
    /// a URL that needs repair.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return None;
        }
        let (scheme, rest) = split_scheme(text)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (host, port) = split_port(authority)?;
        if !is_host(host) {
            return None;
        }
        Some(Self {
            scheme,
            host: host.to_ascii_lowercase(),
            port: match port {
                "" => default_port(scheme),
                port => port.parse().ok()?,
            },
            rest: if rest.starts_with('/') {
                rest.into()
            } else {
                format!("/{rest}").into()
            },
        })
    }

    /// Returns whether a client would shorten the path because of a `.` or `..` in it.
    pub(super) fn has_dot_segments(&self) -> bool {
        let path = self.rest.split(['?', '#']).next().unwrap_or_default();
        let path = path
            .to_ascii_lowercase()
            .replace("%2e", ".")
            .replace("%2f", "/");
        path.split('/').any(|part| part == ".." || part == ".") || path.contains("%5c")
    }
}

/// Returns `rest` as a server may read it: percent-decoded, with `//` collapsed to `/`.
pub(super) fn decode_path(rest: &str) -> String {
    let mut plain = percent_decoded(rest);
    let mut last = None;
    plain.retain(|c| last.replace(c) != Some('/') || c != '/');
    plain
}

/// Splits off `http://` or `https://` in any letter case.
pub(super) fn split_scheme(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = ["http", "https"]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(scheme))?;
    Some((scheme, rest))
}

/// Splits `host:port`; the port is empty if there is none.
pub(super) fn split_port(authority: &str) -> Option<(&str, &str)> {
    let inside_brackets = authority.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match authority[inside_brackets..].split_once(':') {
        Some((before, port)) => (&authority[..inside_brackets + before.len()], port),
        None => (authority, ""),
    };
    (!port.contains(':')).then_some((host, port))
}

/// Returns the default port of `scheme`.
pub(super) fn default_port(scheme: &str) -> u16 {
    if scheme == "https" { 443 } else { 80 }
}

/// Returns whether `host` is a plain name or address, without `@`, `%` and non-ASCII letters.
pub(super) fn is_host(host: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(inner) => {
            !inner.is_empty()
                && inner
                    .chars()
                    .all(|c| c.is_ascii_hexdigit() || ":.".contains(c))
        }
        None => {
            let names_all = host.split('.').all(|label| !label.is_empty());
            names_all && host.chars().all(plain) && (!ends_in_number(host) || is_ipv4(host))
        }
    }
}

// Some clients also accept `127.1`, `0x7f.0.0.1` and `2130706433` as addresses.
fn ends_in_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_hex = last.to_ascii_lowercase().starts_with("0x");
    is_hex || last.chars().all(|c| c.is_ascii_digit())
}

fn is_ipv4(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_urls_are_split_into_parts() {
        for (text, scheme, host, port, rest) in [
            ("https://a.com", "https", "a.com", 443, "/"),
            ("HTTP://A.com:/x?y#z", "http", "a.com", 80, "/x?y#z"),
            ("https://a.com:8443?x", "https", "a.com", 8443, "/?x"),
            ("http://[::1]:80/", "http", "[::1]", 80, "/"),
            ("http://127.0.0.1/", "http", "127.0.0.1", 80, "/"),
            ("http://a1.b2/", "http", "a1.b2", 80, "/"),
        ] {
            let url = Url::parse(text).expect("it is an address");

            assert_eq!(
                (url.scheme, &*url.host, url.port, &*url.rest),
                (scheme, host, port, rest)
            );
        }
    }

    #[test]
    fn a_path_is_read_as_a_server_may() {
        for (rest, expected) in [
            ("/a%2fb//c%2F/d", "/a/b/c/d"),
            ("/%61%2", "/a%2"),
            ("/%zz%", "/%zz%"),
            ("/%C3%A9", "/é"),
        ] {
            assert_eq!(decode_path(rest), expected, "{rest}");
        }
    }

    #[test]
    fn urls_that_clients_would_repair_are_rejected() {
        for text in [
            "",
            "a.com",
            "ftp://a.com",
            "https:a.com",
            "https:/a.com",
            "https:///a.com",
            "https://",
            "https://u@a.com",
            "https://u:p@a.com",
            "https://a.com\\@b.com",
            "https://a%2ecom",
            "https://a。com",
            "https://a .com",
            " https://a.com",
            "https://a.com\t",
            "https://a:b:1",
            "https://a.com:99999",
            "https://a.com:x",
            "https://[::1",
            "https://a.com.",
            "https://.a.com",
            "https://a..com",
            "http://127.1",
            "http://127.0.0.01",
            "http://0x7f.0.0.1",
            "http://0x7f000001",
            "http://127.0.0.0x1",
            "http://2130706433",
            "file:///etc/passwd",
        ] {
            assert_eq!(Url::parse(text), None, "{text:?}");
        }
    }
}
