//! Remote repository URLs: no transport that runs a program.

use super::Git;
use super::value_prefix::{self, ValuePrefix};
use super::word_splitting::may_split;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::syntax::Text;
use crate::{Denial, Rule};

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
    urls.try_for_each(|url| has_known_transport(git, url))?;
    let mut options = git.read.flags.iter().filter(|flag| flag.may_be("repo"));
    options.try_for_each(|flag| match &flag.value {
        Some(url) => has_known_transport(git, url),
        None => Ok(()),
    })
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
