//! URLs of servers on this machine.

use super::is_local_host;
use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::numeric;
use crate::syntax::{Part, Word};

/// Returns whether `url` leads to this machine, whatever its expansions yield.
pub(super) fn is_local(call: &Call<'_, '_, '_>, url: &Arg<'_>) -> bool {
    if url.tilde || !call.stays_one_word(url) {
        return false;
    }
    // A file that matches a pattern starts with the literal prefix of the pattern. The brackets of
    // `[::1]` match one character, which makes no other address.
    let mut globs = url.globs.iter();
    let glob = globs.find(|at| !url.text[**at..].starts_with("[::1]"));
    let known = glob.map_or(url.text.as_ref(), |at| &url.text[..*at]);
    let is_whole = url.is_static() && glob.is_none();
    match authority(known) {
        Authority::Closed(authority) => is_local_authority(authority) && is_plain(known),
        Authority::Open(authority) if is_whole => is_local_authority(authority) && is_plain(known),
        Authority::Open(authority) => {
            let is_port = authority.strip_suffix(':').is_some_and(is_local_authority);
            let is_number = is_port && ends_with_number(call, url);
            let is_path = is_local_authority(authority) && continues_with_path(call, url);
            glob.is_none() && is_plain(known) && (is_number || is_path)
        }
        Authority::OtherScheme => false,
    }
}

/// The authority of a URL, which names the server.
enum Authority<'t> {
    /// It is terminated by a slash, a question mark or a hash.
    Closed(&'t str),
    /// It ends where the known text does.
    Open(&'t str),
    /// The protocol is not HTTP.
    OtherScheme,
}

fn authority(url: &str) -> Authority<'_> {
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    let rest = if lower.starts_with("http://") {
        &url[7..]
    } else if lower.starts_with("https://") {
        &url[8..]
    } else if url.contains("://")
        && !url
            .split(['/', '?', '#'])
            .next()
            .is_some_and(is_local_authority)
    {
        return Authority::OtherScheme;
    } else {
        // Without a protocol, curl uses HTTP for these hosts.
        url
    };
    match rest.find(['/', '?', '#']) {
        Some(end) => Authority::Closed(&rest[..end]),
        None => Authority::Open(rest),
    }
}

/// Returns whether an authority is a local host, with or without a port, and nothing else.
fn is_local_authority(authority: &str) -> bool {
    let is_port =
        |port: &str| matches!(port.len(), 1..=5) && port.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(port) = authority.strip_prefix("[::1]") {
        return port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    }
    match authority.split_once(':') {
        Some((host, port)) => is_local_host(host) && is_port(port),
        None => is_local_host(authority),
    }
}

/// Returns whether text contains no blanks, backslashes and control characters, which programs read
/// in different ways.
fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\')
}

/// Returns whether the first expansion of `url` is a number followed by a slash or the end.
fn ends_with_number(call: &Call<'_, '_, '_>, url: &Arg<'_>) -> bool {
    let Some(first) = url.unknown.and_then(|unknown| unknown.part) else {
        return false;
    };
    let mut parts = url.parts.iter().flat_map(|part| match part {
        Part::DoubleQuoted(inner) => &inner[..],
        part => std::slice::from_ref(part),
    });
    let is_found = parts.by_ref().any(|part| std::ptr::eq(part, first));
    is_found
        && numeric::is_safe_part(call.context.scope, first)
        && match parts.next() {
            None => true,
            Some(Part::Literal(next) | Part::Quoted(next)) => next.starts_with(['/', '?', '#']),
            Some(_) => false,
        }
}

/// Returns whether the first expansion of `url` is a loop variable whose words all start with a
/// slash.
fn continues_with_path(call: &Call<'_, '_, '_>, url: &Arg<'_>) -> bool {
    let first = url.unknown.and_then(|unknown| unknown.part);
    let words = first.and_then(|part| call.context.scope.loop_words(part, url.span.start()));
    let is_path = |word: &&Word<'_>| word.static_text().is_some_and(|it| it.starts_with('/'));
    words.is_some_and(|words| words.iter().all(is_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads_to_this_machine(url: &str) -> bool {
        match authority(url) {
            Authority::Closed(authority) | Authority::Open(authority) => {
                is_local_authority(authority) && is_plain(url)
            }
            Authority::OtherScheme => false,
        }
    }

    #[test]
    fn only_hosts_of_this_machine_are_local() {
        for url in [
            "localhost",
            "localhost:3000/api",
            "http://localhost",
            "HTTP://LOCALHOST:80/",
            "https://127.0.0.1:8443/x?y=z#w",
            "http://127.8.9.10",
            "http://[::1]:3000/",
            "[::1]",
            "localhost:3000/?next=http://example.com",
        ] {
            assert!(leads_to_this_machine(url), "{url}");
        }
        for url in [
            "",
            "example.com",
            "http://example.com/localhost",
            "http://localhost.example.com",
            "http://localhost@example.com",
            "http://user:pw@localhost/",
            "http://localhost:80@example.com/",
            "http://localhost:x/",
            "http://localhost:",
            "http://127.0.0.1.example.com",
            "http://127.1",
            "http://127.0.0.0x1",
            "http://0127.0.0.1",
            "http://127.00.0.1",
            "http://0.0.0.0:3000",
            "http://[::]:3000",
            "http://[::1]x",
            "http://[::ffff:8.8.8.8]",
            "http:/localhost",
            "http:localhost",
            "http:\\\\localhost",
            "http://localhost\\@example.com",
            "//localhost",
            "file:///etc/passwd",
            "ftp://localhost/",
            "gopher://localhost:6379/_x",
            "telnet://localhost",
            "dict://127.0.0.1:11211/stat",
            "unix://localhost",
            "{localhost,example.com}",
            "http://{localhost,example.com}/",
            "http://localhost /x",
        ] {
            assert!(!leads_to_this_machine(url), "{url}");
        }
    }
}
