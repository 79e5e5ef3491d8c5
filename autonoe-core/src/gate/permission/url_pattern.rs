//! Patterns for web URLs, such as `domain:example.com` and `https://example.com/api/*`, and a strict parser of URLs.

#[cfg(test)]
mod tests;

use super::wildcard::Wildcard;
use crate::gate::lexical_path::percent_decoded;

/// Pattern for web URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UrlPattern {
    /// Any URL, including one that cannot be parsed.
    Any,
    /// A domain and its subdomains, over HTTP or HTTPS, on any port.
    Domain(String),
    /// A scheme, a host and a path.
    Address {
        scheme: &'static str,
        host: Wildcard,
        /// `None` matches any port.
        port: Option<u16>,
        rest: Wildcard,
        /// The rest as a server may read it.
        plain_rest: Wildcard,
    },
}

impl UrlPattern {
    /// Parses `text`. The error describes the problem.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(domain) = text.strip_prefix("domain:") {
            let valid = is_host(domain) && !domain.starts_with('.') && !domain.ends_with('.');
            return if valid {
                Ok(Self::Domain(domain.to_ascii_lowercase()))
            } else {
                Err("the domain must be a plain name")
            };
        }
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err("an address must not contain whitespace or backslashes");
        }
        let (scheme, rest) = split_scheme(text).ok_or(
            "it must be *, domain:name or an address that starts with http:// or https://",
        )?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (host, port) = split_port(authority).ok_or("the host has more than one port")?;
        if !is_host(&host.replace('*', "x")) {
            return Err("the host must be a plain name");
        }
        // `https://example.com*` would also cover example.com.evil.com.
        if host != "*"
            && host
                .rsplit('.')
                .next()
                .is_some_and(|last| last.contains('*'))
        {
            return Err("the last part of the host cannot have a wildcard");
        }
        let port = match port {
            "*" => None,
            "" => Some(default_port(scheme)),
            port => Some(port.parse().map_err(|_| "the port must be a number or *")?),
        };
        let rest = if rest.starts_with('/') {
            rest.to_owned()
        } else {
            format!("/{rest}")
        };
        Ok(Self::Address {
            scheme,
            host: Wildcard::with_star(&host.to_ascii_lowercase()),
            port,
            rest: Wildcard::with_star(&rest),
            plain_rest: Wildcard::with_star(&decode_path(&rest)),
        })
    }

    /// Returns whether `url` may lead to something that the pattern matches, or is ambiguous.
    ///
    /// Used for blocking: HTTP and HTTPS usually serve the same content, and a server decodes the
    /// path.
    pub(super) fn touches(&self, url: &str) -> bool {
        let Some(parts) = Url::parse(url).filter(|parts| !parts.has_dot_segments()) else {
            return true;
        };
        match self {
            Self::Any | Self::Domain(_) => self.covers(url),
            Self::Address {
                scheme,
                host,
                port,
                rest,
                plain_rest,
            } => {
                let is_default_port =
                    *port == Some(default_port(scheme)) && parts.port == default_port(parts.scheme);
                host.matches(&parts.host)
                    && (is_default_port || port.is_none_or(|port| port == parts.port))
                    && (rest.matches(&parts.rest) || plain_rest.matches(&decode_path(&parts.rest)))
            }
        }
    }

    /// Returns whether the pattern matches the URL `url`.
    pub(super) fn covers(&self, url: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Domain(domain) => Url::parse(url).is_some_and(|url| {
                let prefix = url.host.strip_suffix(domain.as_str());
                prefix.is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
            }),
            Self::Address {
                scheme,
                host,
                port,
                rest,
                ..
            } => Url::parse(url).is_some_and(|url| {
                url.scheme == *scheme
                    && host.matches(&url.host)
                    && port.is_none_or(|port| port == url.port)
                    && !url.has_dot_segments()
                    && rest.matches(&url.rest)
            }),
        }
    }
}

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
mod url_tests {
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
