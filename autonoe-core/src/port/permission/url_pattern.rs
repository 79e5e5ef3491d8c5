//! Patterns of web addresses: `domain:example.com`, `https://example.com/api/*`.

use super::url::{Url, default_port, is_host, plain, split_port, split_scheme};
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
        /// The rest as a server may read it.
        plain_rest: Wildcard,
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
            plain_rest: Wildcard::with_star(&plain(&rest)),
        })
    }

    /// Tells whether `url` may lead to what the pattern fits, or cannot be read for certain.
    ///
    /// For blocking: over HTTP and HTTPS a server gives the same, and it decodes the path.
    pub(super) fn touches(&self, url: &str) -> bool {
        let Some(parts) = Url::parse(url).filter(|parts| !parts.climbs()) else {
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
                let usual =
                    *port == Some(default_port(scheme)) && parts.port == default_port(parts.scheme);
                host.matches(&parts.host)
                    && (usual || port.is_none_or(|port| port == parts.port))
                    && (rest.matches(&parts.rest) || plain_rest.matches(&plain(&parts.rest)))
            }
        }
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
                ..
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
mod tests;
