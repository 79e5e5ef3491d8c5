//! Patterns of web addresses: `domain:example.com`, `https://example.com/api/*`.

use super::url::{Url, default_port, is_host, split_port, split_scheme};
use super::wildcard::Wildcard;

/// A pattern of web addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UrlPattern {
    /// Any address, also one that cannot be read.
    Any,
    /// A domain and all below it, over HTTP or HTTPS, on any port.
    Domain(String),
    /// A scheme, a host and a path.
    Address {
        scheme: &'static str,
        host: Wildcard,
        /// `None` is any port.
        port: Option<u16>,
        rest: Wildcard,
    },
}

impl UrlPattern {
    /// Parses `text`, or says what is wrong with it.
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
            return Err("an address has no blanks and no backslashes");
        }
        let (scheme, behind) = split_scheme(text).ok_or(
            "it must be *, domain:name or an address that starts with http:// or https://",
        )?;
        let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
        let (authority, rest) = behind.split_at(end);
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
        })
    }

    /// Tells whether `url` fits the pattern, or cannot be read for certain. For blocking.
    pub(super) fn touches(&self, url: &str) -> bool {
        Url::parse(url).is_none_or(|parts| parts.climbs()) || self.covers(url)
    }

    /// Tells whether the pattern fits the address `url`.
    pub(super) fn covers(&self, url: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Domain(domain) => Url::parse(url).is_some_and(|url| {
                let above = url.host.strip_suffix(domain.as_str());
                above.is_some_and(|sub| sub.is_empty() || sub.ends_with('.'))
            }),
            Self::Address {
                scheme,
                host,
                port,
                rest,
            } => Url::parse(url).is_some_and(|url| {
                url.scheme == *scheme
                    && host.matches(&url.host)
                    && port.is_none_or(|port| port == url.port)
                    && !url.climbs()
                    && rest.matches(&url.rest)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covers(pattern: &str, url: &str) -> bool {
        UrlPattern::parse(pattern)
            .expect("the pattern is valid")
            .covers(url)
    }

    #[test]
    fn patterns_cover_what_they_say() {
        for (pattern, url, covered) in [
            ("*", "anything at all", true),
            ("domain:example.com", "https://example.com/x", true),
            ("domain:example.com", "http://a.EXAMPLE.com:8080/x", true),
            ("domain:example.com", "https://badexample.com/", false),
            ("domain:example.com", "https://example.com.evil.com/", false),
            ("domain:example.com", "ftp://example.com/", false),
            (
                "https://api.example.com/*",
                "https://api.example.com/a/b?c#d",
                true,
            ),
            (
                "https://api.example.com/*",
                "https://API.example.com:443",
                true,
            ),
            (
                "https://api.example.com/*",
                "http://api.example.com/",
                false,
            ),
            (
                "https://api.example.com/*",
                "https://api.example.com:8443/",
                false,
            ),
            (
                "https://api.example.com:*/*",
                "https://api.example.com:8443/",
                true,
            ),
            (
                "https://api.example.com/v1/*",
                "https://api.example.com/v1/a",
                true,
            ),
            (
                "https://api.example.com/v1/*",
                "https://api.example.com/v2/a",
                false,
            ),
            (
                "https://api.example.com/v1/*",
                "https://api.example.com/v1/../v2",
                false,
            ),
            (
                "https://api.example.com/v1/*",
                "https://api.example.com/v1/%2E%2e/v2",
                false,
            ),
            ("https://*.example.com/*", "https://a.b.example.com/", true),
            ("https://*.example.com/*", "https://example.com/", false),
            (
                "https://*.example.com/*",
                "https://evil.com/.example.com/",
                false,
            ),
            (
                "https://*.example.com/*",
                "https://evil.com?.example.com/",
                false,
            ),
            (
                "https://*.example.com/*",
                "https://evil.com#.example.com/",
                false,
            ),
            (
                "https://*.example.com/*",
                "https://evil.com:1.example.com/",
                false,
            ),
            ("https://example.com", "https://example.com/", true),
            ("https://example.com", "https://example.com/a", false),
        ] {
            assert_eq!(covers(pattern, url), covered, "{pattern} {url}");
        }
    }

    #[test]
    fn an_address_that_only_looks_right_is_covered_by_nothing_but_the_star() {
        for url in [
            "https://api.example.com@evil.com/",
            "https://api.example.com:x@evil.com/",
            "https://user@api.example.com/",
            "https://api.example.com.evil.com/",
            "https://evil.com/?https://api.example.com/",
            "https://evil.com\\.api.example.com/",
            "https://evil.com\\@api.example.com/",
            "https://evil.com/\t@api.example.com/",
            "https://api.exa\nmple.com/",
            "https://api.example.com /",
            "https:///api.example.com/",
            "javascript:https://api.example.com/",
        ] {
            for pattern in [
                "https://api.example.com/*",
                "https://*.example.com/*",
                "domain:example.com",
            ] {
                assert!(!covers(pattern, url), "{pattern} {url:?}");
            }
            assert!(covers("*", url), "{url:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in [
            "example.com",
            "ftp://a.com/*",
            "domain:",
            "domain:*.a.com",
            "domain:a.com/x",
            "https://",
            "https://u@a.com/*",
            "https://a.com*",
            "https://a.*/x",
            "https://a.com:x/",
            "https://a b/*",
        ] {
            assert!(UrlPattern::parse(text).is_err(), "{text:?} was accepted");
        }
    }

    proptest! {
        #[test]
        fn only_the_own_host_is_covered(noise in "[a-z0-9@:/?#.\\\\ -]{0,20}") {
            for url in [format!("https://{noise}evil.com/"), format!("https://{noise}.evil.com")] {
                let path_only = noise.starts_with("api.example.com/")
                    || noise.starts_with("api.example.com?")
                    || noise.starts_with("api.example.com#");

                prop_assert!(path_only || !covers("https://api.example.com/*", &url), "{url}");
            }
        }
    }
}
