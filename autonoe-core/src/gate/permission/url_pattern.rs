//! Patterns for web URLs: `domain:example.com`, `https://example.com/api/*`.

use super::url::{Url, decode_path, default_port, is_host, split_port, split_scheme};
use super::wildcard::Wildcard;

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

#[cfg(test)]
mod tests;
