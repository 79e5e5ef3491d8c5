//! Denies names of branches and remotes that look like options.
//!
//! Commands that print such names count as printing no option (R20). Git itself refuses them in
//! `branch`, `tag`, `checkout` and `switch`; this module covers the other ways to create one.

use super::Git;
use super::parsed_args::Flag;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::{Denial, Rule};

/// Options whose value becomes the name of a branch or a remote: their subcommand, letters and
/// names.
const NAMING: &[(&str, &[char], &[&str])] = &[
    ("init", &['b'], &["initial-branch"]),
    ("clone", &['o'], &["origin"]),
    ("worktree", &['b', 'B'], &[]),
];

/// Options that make a subcommand read names from its input.
const FROM_INPUT: &[(&str, &str)] = &[("fetch", "stdin"), ("update-ref", "stdin")];

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    if let Some(arg) = git.args.iter().find(|arg| names_ref_like_option(&arg.text)) {
        return Err(like_option(arg));
    }
    for flag in &git.read.flags {
        check_flag(git, flag)?;
    }
    let read = &git.read;
    match git.name {
        "symbolic-ref" => read.at(1).try_for_each(full_name),
        // A ref to be deleted may have any name.
        "update-ref" if !read.surely_has(Some('d'), "") => read.at(0).try_for_each(full_name),
        "remote" if read.first_may_be("add") => read.at(1).try_for_each(|it| name(git, it)),
        "remote" if read.first_may_be("rename") => read.at(2).try_for_each(|it| name(git, it)),
        "fetch" | "pull" | "push" => {
            let is_local = read.at(0).any(is_place);
            let mut refspecs = read.operands.iter().skip(1);
            refspecs.try_for_each(|operand| refspec(operand.arg, is_local))
        }
        _ => Ok(()),
    }
}

fn check_flag(git: &Git<'_, '_, '_, '_>, flag: &Flag<'_, '_>) -> Checked {
    let mut readers = FROM_INPUT.iter();
    if readers.any(|(subcommand, option)| git.name == *subcommand && flag.may_be(option)) {
        return Err(git.deny_flag(Rule::R43, &flag.arg.text, flag.arg));
    }
    let Some(value) = &flag.value else {
        return Ok(());
    };
    let names = NAMING.iter().any(|(subcommand, letters, long)| {
        git.name == *subcommand
            && (letters.iter().any(|letter| flag.is_letter(*letter))
                || long.iter().any(|option| flag.may_be(option)))
    });
    if names {
        return name(git, value);
    }
    if git.name == "fetch" && flag.may_be("refmap") {
        refspec(value, false)
    } else {
        Ok(())
    }
}

/// Checks the name of a branch or a remote.
fn name(git: &Git<'_, '_, '_, '_>, name: &Arg<'_>) -> Checked {
    if name.text.starts_with('-') || !git.call.is_option_safe(name) {
        Err(like_option(name))
    } else {
        Ok(())
    }
}

/// Checks the name of a branch with the prefix `refs/heads/`, where git accepts any name.
fn full_name(name: &Arg<'_>) -> Checked {
    match name.known() {
        Some(name) if !has_component_like_option(name) => Ok(()),
        Some(_) => Err(like_option(name)),
        None => Err(unknown(name)),
    }
}

/// Checks that `SOURCE:DESTINATION` creates no such name.
fn refspec(refspec: &Arg<'_>, is_local: bool) -> Checked {
    if refspec.mentions(makes_name_like_option) {
        return Err(like_option(refspec));
    }
    // If the other repository is local, the written ref may be a branch of this one.
    if is_local && !refspec.is_static() {
        Err(unknown(refspec))
    } else {
        Ok(())
    }
}

fn makes_name_like_option(refspec: &str) -> bool {
    let Some((source, destination)) = refspec.split_once(':') else {
        return false;
    };
    // `refs/heads/x*:refs/heads/*` removes the prefix of names.
    let cuts = |side: &str| {
        side.split_once('*')
            .map(|(before, _)| !before.ends_with('/'))
    };
    has_component_like_option(destination)
        || (cuts(source) == Some(true) && cuts(destination) == Some(false))
}

fn has_component_like_option(name: &str) -> bool {
    name.split('/').any(|component| component.starts_with('-'))
}

/// Returns whether `text` names a branch, a tag or the like with a component that is an option.
fn names_ref_like_option(text: &str) -> bool {
    let below = ["heads/", "tags/", "remotes/"];
    let is_short = |name: &str| {
        let mut folders = below.iter().filter_map(|folder| name.strip_prefix(folder));
        folders.any(has_component_like_option)
    };
    text.split_once("refs/")
        .is_some_and(|(_, name)| name.contains("/-"))
        || text.split([':', '+']).any(is_short)
}

/// Returns whether a repository is given by a file system path.
fn is_place(repository: &Arg<'_>) -> bool {
    repository.tilde
        || [".", "/", "file:"]
            .iter()
            .any(|start| repository.text.starts_with(start))
}

fn like_option(arg: &Arg<'_>) -> Denial {
    let reason = format!("'{}' would create a name that is an option", arg.text);
    Denial::by(Rule::R43, arg.span, reason).instead("use another name")
}

fn unknown(arg: &Arg<'_>) -> Denial {
    let reason = "the name of the branch is unknown until it runs";
    Denial::by(Rule::R43, arg.span, reason).instead("write it literally")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_cuts_names_may_leave_an_option() {
        for refspec in ["refs/heads/x*:refs/heads/*", "a:-b", "a:heads/-b", ":x/-b"] {
            assert!(makes_name_like_option(refspec), "{refspec}");
        }
        for refspec in [
            "main",
            "+refs/heads/*:refs/remotes/origin/*",
            "refs/heads/x*:refs/heads/x*",
            "main:feature-x",
        ] {
            assert!(!makes_name_like_option(refspec), "{refspec}");
        }
    }
}
