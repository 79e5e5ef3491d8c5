//! Strict reading of the server that a URL names.
//!
//! Programs read unusual URLs in different ways: user information, backslashes, control characters,
//! missing slashes, and addresses in octal or hexadecimal. So only one form counts:
//! `http://HOST` or `https://HOST`, a port of digits, and then the end, `/`, `?` or `#`.

use crate::check::text::is_digits;

/// The official package registries, and the hosts from which they serve packages.
const REGISTRIES: &[&str] = words!(
    "conda.anaconda.org crates.io download.pytorch.org files.pythonhosted.org index.crates.io",
    "index.rubygems.org jsr.io npm.jsr.io packagist.org proxy.golang.org pypi.org",
    "pypi.python.org registry.npmjs.org registry.yarnpkg.com repo.anaconda.com repo.packagist.org",
    "rubygems.org static.crates.io sum.golang.org",
);

/// Protocols of servers, and of tools that fetch from them.
const PROTOCOLS: &[&str] =
    words!("bzr dict ftp ftps git gopher hg http https s3 sftp ssh svn telnet ws wss");

/// The server of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Server<'t> {
    /// Whether the connection is encrypted.
    is_https: bool,
    host: &'t str,
    has_port: bool,
    /// Whether text follows the authority.
    has_rest: bool,
    /// Whether no text after the URL can change the server.
    pub(super) is_closed: bool,
}

impl<'t> Server<'t> {
    /// Reads the server of `url`, whose end may be unknown; `None` for any other form.
    pub(super) fn parse(url: &'t str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !is_https && !scheme.eq_ignore_ascii_case("http") {
            return None;
        }
        Some(Self {
            is_https,
            ..Self::parse_authority(rest)?
        })
    }

    /// Reads `HOST`, `HOST:PORT` and what follows them in a URL.
    pub(super) fn parse_authority(text: &'t str) -> Option<Self> {
        let is_unusual = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
        if text.contains(is_unusual) {
            return None;
        }
        let end = text.find(['/', '?', '#']);
        let (authority, path) = text.split_at(end.unwrap_or(text.len()));
        // Some programs search for the end of user information before they search for a path.
        if !path.starts_with('/') && path.contains('@') {
            return None;
        }
        let bracket = authority.find(']').map_or(0, |at| at + 1);
        let colon = authority[bracket..].find(':').map(|at| bracket + at);
        let (host, port) = authority.split_at(colon.unwrap_or(authority.len()));
        let port = port.strip_prefix(':');
        let is_name = |host: &str| {
            let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
            !host.is_empty() && host.bytes().all(is_of_name)
        };
        let is_port = |port: &str| matches!(port.len(), 1..=5) && is_digits(port);
        let is_strict = (host == "[::1]" || is_name(host)) && port.is_none_or(is_port);
        is_strict.then_some(Self {
            is_https: false,
            host,
            has_port: port.is_some(),
            has_rest: !path.is_empty(),
            is_closed: path.starts_with(['/', '?']),
        })
    }

    /// Returns whether it is this machine.
    pub(super) fn is_local(&self) -> bool {
        self.host == "[::1]" || is_local_host(self.host)
    }

    /// Returns whether the URL ends with the name of the host.
    pub(super) fn is_open(&self) -> bool {
        !self.has_port && !self.has_rest
    }

    /// Returns whether it is an official package registry.
    pub(super) fn is_registry(&self) -> bool {
        let mut registries = REGISTRIES.iter();
        let is_registry = registries.any(|host| host.eq_ignore_ascii_case(self.host));
        self.is_https && !self.has_port && is_registry
    }
}

/// Returns whether `url`, whose end is unknown if `is_whole` is `false`, leads to this machine.
pub(super) fn is_local_url(url: &str, is_whole: bool) -> bool {
    Server::parse(url).is_some_and(|server| server.is_local() && (is_whole || server.is_closed))
}

/// Returns whether `host` is this machine: `localhost`, or `127.x.x.x` in decimal.
pub(super) fn is_local_host(host: &str) -> bool {
    let is_loopback = || {
        let numbers: Vec<&str> = host.split('.').collect();
        let is_byte = |text: &&str| {
            let is_number = is_digits(text);
            is_number && text.parse::<u8>().is_ok() && (text.len() == 1 || !text.starts_with('0'))
        };
        numbers.len() == 4 && numbers[0] == "127" && numbers.iter().all(is_byte)
    };
    host.eq_ignore_ascii_case("localhost") || is_loopback()
}

/// Returns whether `text` may name a server that is neither an official registry nor this machine.
///
/// If the end of `text` is unknown (`is_whole` is `false`), it must not change the server either.
pub(super) fn names_foreign_host(text: &str, is_whole: bool) -> bool {
    // Parsers of URLs read a backslash as a slash, and skip control characters.
    let is_unusual = |c: char| c == '\\' || c.is_control();
    let has_server = text.contains(':') || text.contains("//");
    let is_share = text.starts_with('\\') || text.starts_with("/\\");
    if is_share || (has_server && text.contains(is_unusual)) {
        return true;
    }
    let has_foreign_address = text.match_indices(':').any(|(at, _)| {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.');
        let scheme = text[..at].rsplit(is_end).next().unwrap_or_default();
        let protocol = scheme.rsplit('+').next().unwrap_or_default();
        let lower = protocol.to_ascii_lowercase();
        if !text[at + 1..].starts_with("//") {
            return PROTOCOLS.contains(&lower.as_str());
        }
        if scheme.eq_ignore_ascii_case("file") {
            return !text[at + 3..].starts_with(['/', '.']);
        }
        // A quote ends the address in JSON.
        let url = &text[at - protocol.len()..];
        let url = &url[..url.find(['"', '\'', ' ']).unwrap_or(url.len())];
        let is_known = Server::parse(url).is_some_and(|server| {
            (server.is_local() || server.is_registry()) && (is_whole || server.is_closed)
        });
        !is_known
    });
    has_foreign_address || names_host_without_protocol(text)
}

/// Returns whether `text` contains `//HOST`, which is no part of a path.
fn names_host_without_protocol(text: &str) -> bool {
    text.match_indices("//").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '/' | ':'))
    })
}

/// Returns whether `text` begins with the name of a protocol: `https:`, `git+ssh:`.
pub(super) fn begins_with_protocol(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let protocol = scheme.rsplit('+').next().unwrap_or_default();
    PROTOCOLS.contains(&protocol.to_ascii_lowercase().as_str())
}

/// Returns whether `text` is a web address, in any form that a parser of URLs accepts.
pub(super) fn is_web_address(text: &str) -> bool {
    let is_skipped = |c: &char| !c.is_whitespace() && !c.is_control();
    let start: String = text.chars().filter(is_skipped).take(6).collect();
    let lower = start.to_ascii_lowercase();
    lower.starts_with("http:") || lower.starts_with("https:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_strict_form_leads_to_this_machine() {
        for url in [
            "http://localhost",
            "HTTP://LOCALHOST:80/",
            "https://127.0.0.1:8443/x?y=z#w",
            "http://127.8.9.10",
            "http://[::1]:3000/",
            "http://[::1]",
            "http://localhost?x=y",
            "http://localhost/@x:y",
            "http://localhost:3000/?next=http://example.com",
        ] {
            assert!(is_local_url(url, true), "{url}");
        }
        for url in [
            "",
            "localhost",
            "http://",
            "http://example.com/localhost",
            "http://localhost.example.com",
            "http://localhost.",
            "http://localhost@example.com",
            "http://localhost:x@example.com/",
            "https://localhost:80@example.com/",
            "http://localhost:80:80/",
            "http://user:pw@localhost/",
            "http://@localhost/",
            "http://localhost:x/",
            "http://localhost:",
            "http://localhost:123456/",
            "http://localhost#@example.com/",
            "http://localhost?@example.com/",
            "http://127.0.0.1.example.com",
            "http://127.1",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://127.0.0.01/",
            "http://127.0.0.256/",
            "http://0.0.0.0:3000",
            "http://[::]:3000",
            "http://[::1]x",
            "http://[::1%25eth0]/",
            "http://[::ffff:8.8.8.8]",
            "http://%6cocalhost/",
            "http://loc%61lhost/",
            "http://localhost,example.com/",
            "http://{localhost,example.com}/",
            "http://[1-3].example.com/",
            "http:/localhost",
            "http:///localhost",
            "http:localhost",
            "http:\\\\localhost",
            "http://localhost\\@example.com",
            "http://local\thost/",
            "http://localhost\n.example.com/",
            "http://localhost /x",
            " http://localhost/",
            "ftp://localhost/",
            "git+http://localhost/",
            "//localhost",
        ] {
            assert!(!is_local_url(url, true), "{url}");
        }
    }

    #[test]
    fn addresses_of_registries_and_of_this_machine_are_not_foreign() {
        for text in [
            "https://pypi.org/simple",
            "x=https://PyPI.org/simple",
            "sparse+https://index.crates.io/",
            "http://localhost:4873",
            "http://127.0.0.1:8081/simple/",
            "file:///srv/project/x",
            "https://repo.packagist.org",
            "{\"type\":\"path\",\"url\":\"../x\"}",
            "{\"url\":\"https://repo.packagist.org\"}",
            "@s/x@1.0",
            "localhost:4873",
            "x@npm:y@3",
            "a//b",
            "",
        ] {
            assert!(!names_foreign_host(text, true), "{text}");
        }
        for text in [
            "https://pypi.example.net/simple",
            "https://pypi.org@example.net/",
            "https://user:pw@pypi.org/",
            "https://pypi.org:x@example.net/",
            "https://pypi.org.example.net/",
            "https://pypi.org,x.example.net/",
            "https://pypi.org:8443/",
            "http://pypi.org/",
            "https://",
            "https://pypi.org https://example.net",
            "x=git+ssh://example.net/x",
            "{\"url\":\"https://example.net\"}",
            "{\"url\":\"https:\\/\\/example.net\"}",
            "{\"url\":\"//example.net\"}",
            "http:\\\\example.net",
            "https:\\/example.net",
            "http:example.net",
            "HTTP:example.net",
            "https:/example.net",
            "https:///example.net",
            "ht\ttp://example.net",
            "//example.net",
            "/\\example.net",
            "x=//example.net",
            "git:example.net/x",
            "file://example.net/x",
            "x@git+file:///srv/x",
        ] {
            assert!(names_foreign_host(text, true), "{text}");
        }
    }

    #[test]
    fn an_unknown_end_must_not_change_the_server() {
        for text in ["https://pypi.org/", "http://localhost:4873/x"] {
            assert!(!names_foreign_host(text, false), "{text}");
        }
        for text in ["https://pypi.org", "http://localhost:48", "https://"] {
            assert!(names_foreign_host(text, false), "{text}");
        }
    }

    #[test]
    fn a_web_address_is_recognised_in_every_form() {
        for text in [
            "http://x",
            "HTTPS://x",
            "https:x",
            "http:\\\\x",
            " https:/x",
            "ht\ntp:x",
        ] {
            assert!(is_web_address(text), "{text}");
        }
        for text in ["", "x", "./http:", "httpx", "http", "npm:x"] {
            assert!(!is_web_address(text), "{text}");
        }
    }
}
