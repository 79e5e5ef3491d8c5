//! Remote repository URLs: no transport that runs a program.

use std::cell::Cell;

use super::Git;
use super::value_prefix::{self, ValuePrefix};
use super::word_splitting::may_split;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::server_url::{is_local_host, is_local_url};
use crate::check::survey::Value;
use crate::syntax::{Part, Text, static_text};
use crate::{Denial, Rule};

/// Subcommands of `git remote` that connect to a remote.
const ASKING: &[&str] = words!("prune show update");

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    if git.name == "submodule" && git.read.first_may_be("foreach") {
        return Err(git
            .deny(
                Rule::R43,
                "git submodule foreach runs a command line of its own",
            )
            .instead("run the command in each submodule with git -C"));
    }
    let places: &[usize] = match git.name {
        "clone" | "fetch" | "pull" | "push" | "ls-remote" => &[0],
        "remote" if git.read.first_may_be("add") => &[2],
        "remote" if git.read.first_may_be("set-url") => &[2, 3],
        "remote" if ASKING.iter().any(|word| git.read.first_may_be(word)) => &[1, 2],
        "submodule" if git.read.first_may_be("add") => &[1],
        "submodule" if git.read.first_may_be("set-url") => &[2],
        "remote" | "submodule" | "archive" => &[],
        _ => return Ok(()),
    };
    for arg in git.args {
        // `--repo=ext::..` is a URL as well.
        let url = match arg.text.split_once('=') {
            Some((option, value)) if option.starts_with("--") => value,
            _ => arg.text.as_ref(),
        };
        if names_helper(url) {
            let reason = format!("'{url}' makes git run a helper program");
            return Err(Denial::by(Rule::R43, arg.span, reason).instead("use an https or ssh URL"));
        }
    }
    let several = git.name == "fetch" && git.read.may_have(Some('m'), "multiple");
    let from_several = git.read.operands.iter().map(|operand| operand.arg);
    let mut urls = places
        .iter()
        .flat_map(|place| git.read.at(*place))
        .chain(from_several.filter(|_| several));
    urls.try_for_each(|url| {
        has_known_transport(git, url)?;
        reaches_known_host(git, url, is_named_remote(git))
    })?;
    if git.name == "remote" && changes_push_url(git) {
        let reason = "git remote set-url would send pushes to another repository";
        return Err(git
            .deny(Rule::R43, reason)
            .instead("use git remote add with a new name"));
    }
    let options = git.read.flags.iter();
    let mut options = options.filter(|flag| flag.may_be("repo") || flag.may_be("bundle-uri"));
    options.try_for_each(|flag| match &flag.value {
        Some(url) => {
            has_known_transport(git, url)?;
            reaches_known_host(git, url, true)
        }
        None => Ok(()),
    })
}

/// Returns whether `git remote set-url` adds a URL, or changes the one for pushes.
fn changes_push_url(git: &Git<'_, '_, '_, '_>) -> bool {
    let has = |name| git.read.may_have(None, name);
    git.read.first_may_be("set-url") && (has("push") || has("add"))
}

/// Returns whether a subcommand takes a remote by its name.
fn is_named_remote(git: &Git<'_, '_, '_, '_>) -> bool {
    let asks = git.name == "remote" && ASKING.iter().any(|word| git.read.first_may_be(word));
    asks || matches!(git.name, "fetch" | "ls-remote" | "pull" | "push")
}

/// Checks the host of a repository.
///
/// `clone`, `remote add` and `submodule add` take an encrypted URL. Others take the name of a
/// remote or a path.
fn reaches_known_host(git: &Git<'_, '_, '_, '_>, url: &Arg<'_>, by_name: bool) -> Checked {
    let is_refused = |text: &str, is_whole| match Place::parse(text, is_whole) {
        Place::Local => false,
        Place::Encrypted => by_name,
        Place::Open => true,
    };
    // A variable may hold the URL.
    let found = Cell::new(false);
    value_prefix::holds_for_all(git.call.context.scope, url, &|beginning| {
        if let ValuePrefix::Whole(text) | ValuePrefix::Text(text) = beginning {
            let is_whole = matches!(beginning, ValuePrefix::Whole(_));
            found.set(found.get() || is_refused(text, is_whole));
        }
        true
    });
    if found.get() {
        let reason = format!("git {} would reach a host by its URL", git.name);
        let instead = if by_name {
            "use the name of a remote, such as origin"
        } else {
            "use an https or ssh URL"
        };
        return Err(Denial::by(Rule::R43, url.span, reason).instead(instead));
    }
    let is_url = Place::parse(&url.text, url.is_static()) == Place::Encrypted;
    if is_url && may_hold_output(git, &url.parts) {
        let reason = "the URL contains the output of a command, which the host would see";
        return Err(Denial::by(Rule::R43, url.span, reason).instead("write the URL literally"));
    }
    Ok(())
}

/// Returns whether the output of a command is a part of a word, directly or in a variable.
fn may_hold_output(git: &Git<'_, '_, '_, '_>, parts: &[Part<'_>]) -> bool {
    parts.iter().any(|part| match part {
        Part::CommandSubstitution(_) => true,
        Part::DoubleQuoted(inner) => may_hold_output(git, inner),
        Part::Parameter(parameter) => {
            let variable = git.call.context.scope.survey().variable(&parameter.name);
            variable.is_some_and(|variable| {
                !variable.always(|given| match given.value {
                    Value::Number => true,
                    Value::String { rest, .. } => static_text(rest).is_some(),
                    Value::OneOf(words) => words.iter().all(|word| word.static_text().is_some()),
                    Value::Array(_) | Value::Unknown => false,
                })
            })
        }
        _ => false,
    })
}

/// The place of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A remote by its name, a path, or a server on this machine.
    Local,
    /// A URL of HTTPS or SSH.
    Encrypted,
    /// A URL of another protocol.
    Open,
}

impl Place {
    fn parse(url: &str, is_whole: bool) -> Self {
        if let Some((scheme, rest)) = url.split_once("://") {
            return match scheme.to_ascii_lowercase().as_str() {
                "file" if rest.starts_with('/') => Self::Local,
                _ if is_local_url(url, is_whole) => Self::Local,
                "https" | "ssh" | "git+ssh" | "ssh+git" => Self::Encrypted,
                _ => Self::Open,
            };
        }
        // `me@host:path`: the first colon precedes the first slash.
        let host = url.split_once(':').map(|(host, _)| host);
        match host.filter(|host| !host.is_empty() && !host.contains('/')) {
            Some(host) if is_local_host(without_user(host)) => Self::Local,
            Some(_) => Self::Encrypted,
            None => Self::Local,
        }
    }
}

/// Returns the host of `user@host`, if the name of the user is plain.
fn without_user(host: &str) -> &str {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match host.split_once('@') {
        Some((user, host)) if user.chars().all(is_of_name) => host,
        _ => host,
    }
}

/// Checks that a partially unknown URL cannot name a transport helper.
fn has_known_transport(git: &Git<'_, '_, '_, '_>, url: &Arg<'_>) -> Checked {
    let is_one_word = !may_split(git.call, url);
    let is_known =
        value_prefix::holds_for_all(git.call.context.scope, url, &|beginning| match beginning {
            ValuePrefix::Whole(text) => !names_helper(text) && (is_one_word || !has_blanks(text)),
            ValuePrefix::Text(text) => is_one_word && fixes_transport(text),
            ValuePrefix::Number | ValuePrefix::AbsolutePath => true,
            ValuePrefix::CommandOutput { words, is_whole } => is_whole && prints_name(&words),
        });
    if is_known {
        Ok(())
    } else {
        let reason = "the repository is unknown until it runs";
        Err(Denial::by(Rule::R43, url.span, reason)
            .instead("begin it with https:// or git@, or use the name of a remote"))
    }
}

/// Returns whether a command only prints the name of something in the repository.
pub(super) fn prints_name(words: &[Text<'_>]) -> bool {
    let [name, first, rest @ ..] = words else {
        return words == ["pwd"];
    };
    let is_known = match (name.as_ref(), first.as_ref()) {
        ("git", "branch") => rest == ["--show-current"],
        ("git", "describe" | "hash-object" | "merge-base" | "rev-list" | "rev-parse")
        | ("git", "symbolic-ref" | "write-tree") => true,
        ("date", format) => format.starts_with("+%"),
        ("pwd", _) => true,
        _ => false,
    };
    // `git rev-parse` prints arguments that it does not understand.
    is_known
        && !rest
            .iter()
            .any(|word| word.starts_with('+') || word.contains("::"))
}

pub(super) fn has_blanks(text: &str) -> bool {
    text.contains([' ', '\t', '\n'])
}

/// Returns whether a URL names a transport helper: `ext::`, `fd::` or any other before a slash.
fn names_helper(url: &str) -> bool {
    let before_slash = url.split('/').next().unwrap_or(url);
    before_slash.contains("::")
}

/// Returns whether no text after `start` can turn it into a transport helper.
///
/// The name of a helper consists of letters, digits, `+`, `-` and `.`, starts with a letter or a
/// digit, and is followed by two colons.
fn fixes_transport(start: &str) -> bool {
    let is_of_name = |(at, c): (usize, char)| {
        c.is_ascii_alphanumeric() || (at > 0 && matches!(c, '+' | '-' | '.'))
    };
    match start.char_indices().find(|place| !is_of_name(*place)) {
        Some((at, ':')) => start[at + 1..].starts_with(|c| c != ':'),
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_and_the_host_decide_about_a_place() {
        for (url, place) in [
            ("origin", Place::Local),
            ("../other.git", Place::Local),
            ("./a:b", Place::Local),
            ("file:///srv/x.git", Place::Local),
            ("http://localhost:3000/x.git", Place::Local),
            ("https://host/x.git", Place::Encrypted),
            ("HTTPS://host/x.git", Place::Encrypted),
            ("ssh://git@host/x.git", Place::Encrypted),
            ("git@host:o/x.git", Place::Encrypted),
            ("host:x", Place::Encrypted),
            ("git://host/x.git", Place::Open),
            ("http://host/x.git", Place::Open),
            ("http://localhost@host/x.git", Place::Open),
            ("http://localhost:x@host/x.git", Place::Open),
            ("https://localhost:x@host/x.git", Place::Encrypted),
            ("https://localhost\\@host/x.git", Place::Encrypted),
            ("git://localhost:x@host/x.git", Place::Open),
            ("git@localhost:o/x.git", Place::Local),
            ("localhost@host:o/x.git", Place::Encrypted),
            ("[host]@localhost:o/x.git", Place::Encrypted),
            ("ftp://host/x.git", Place::Open),
        ] {
            assert_eq!(Place::parse(url, true), place, "{url}");
        }
    }

    #[test]
    fn a_start_fixes_the_transport_once_no_helper_can_follow() {
        for start in [
            "https://", "git@", "./", "../x", "/srv", "host:x", "ssh://h",
        ] {
            assert!(fixes_transport(start), "{start}");
        }
        for start in ["", "ext", "ext:", "e", "a-b+c.d", "https:", "ext::x"] {
            assert!(!fixes_transport(start), "{start}");
        }
    }
}
