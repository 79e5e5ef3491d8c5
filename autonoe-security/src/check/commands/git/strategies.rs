//! Merge strategies: git runs `git-merge-NAME` for a strategy that it does not know.

use super::Git;
use super::parsed_args::Flag;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;

/// Strategies that are part of git.
const BUILT_IN: &[&str] = words!("ort recursive resolve octopus ours subtree");

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let letter = match git.name {
        "merge" | "pull" | "rebase" => Some('s'),
        // With these, -s means sign-off.
        "cherry-pick" | "revert" => None,
        _ => return Ok(()),
    };
    let names_strategy = |flag: &&Flag<'_, '_>| {
        flag.may_be("strategy") || letter.is_some_and(|letter| flag.is_letter(letter))
    };
    let is_built_in = |name: &Arg<'_>| name.known().is_some_and(|name| BUILT_IN.contains(&name));
    let mut flags = git.read.flags.iter().filter(names_strategy);
    match flags.find(|flag| flag.value.as_ref().is_some_and(|name| !is_built_in(name))) {
        Some(flag) => Err(git
            .deny_flag(Rule::R43, &flag.arg.text, flag.arg)
            .instead("use a strategy of git, such as ort or ours")),
        None => Ok(()),
    }
}
