//! URLs of servers on this machine.

use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::commands::server_url::Server;
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
    if let Some(server) = parse(known) {
        let is_path = || continues_with_path(call, url);
        let is_settled = server.is_closed || is_whole || (glob.is_none() && is_path());
        return server.is_local() && is_settled;
    }
    let before_port = known.strip_suffix(':').and_then(parse);
    let is_local = before_port.is_some_and(|server| server.is_local() && server.is_open());
    is_local && glob.is_none() && ends_with_number(call, url)
}

/// Reads the server of a URL. Without a protocol, curl uses HTTP for the hosts of this machine.
fn parse(url: &str) -> Option<Server<'_>> {
    Server::parse(url).or_else(|| Server::parse_authority(url))
}

/// Returns whether the first expansion of `url` is a number followed by a slash or the end.
fn ends_with_number(call: &Call<'_, '_, '_>, url: &Arg<'_>) -> bool {
    let Some(first) = url.unknown.and_then(|unknown| unknown.part) else {
        return false;
    };
    let mut parts = url.flat_parts();
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
