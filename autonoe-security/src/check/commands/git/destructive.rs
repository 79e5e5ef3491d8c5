//! Git commands that destroy work irrecoverably.

use std::cell::Cell;

use super::Git;
use super::urls::{has_blanks, prints_name};
use super::value_prefix::{self, ValuePrefix};
use super::word_splitting::may_split;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::remedy;

/// Denies the destruction of work unless it is allowed.
pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let destroys = match git.name {
        "clean" => !git.read.surely_has(Some('n'), "dry-run"),
        "push" => {
            let mut operands = git.read.operands.iter();
            git.read.may_have(Some('f'), "force")
                || git.read.may_have(Some('d'), "delete")
                || git.read.may_have(None, "mirror")
                || git.read.may_have(None, "prune")
                || operands.any(|operand| may_force(git, operand.arg))
        }
        // Each push to such a remote acts like --mirror, and each fetch overwrites branches.
        "remote" => git.read.may_have(None, "mirror"),
        // Commits that no branch reaches any more are gone.
        "reflog" => ["expire", "delete", "drop"]
            .iter()
            .any(|word| git.read.first_may_be(word)),
        "gc" => git.read.may_have(None, "prune"),
        "fetch" | "pull" => overwrites_refs(git),
        _ => hides_work(git),
    };
    if !destroys || git.call.policy().allows_destructive() {
        return Ok(());
    }
    let instead = match git.name {
        "clean" => "list the files with git clean -n, and leave them in place",
        "remote" => "add it without --mirror",
        "gc" | "reflog" => "use git gc without --prune, and git reflog show",
        "branch" | "tag" | "update-ref" | "symbolic-ref" => {
            "create a new branch or tag, and leave the others in place"
        }
        "fetch" | "pull" => "fetch into remote-tracking branches: git fetch origin",
        "read-tree" | "update-index" => "use git add and git restore",
        "sparse-checkout" | "submodule" => "leave the files in the working tree",
        "switch" => "use git checkout --orphan NAME, which keeps the files",
        "stash" => "keep the stash, or apply it with git stash pop",
        "worktree" => "commit the changes of the working tree first, and remove it without --force",
        _ => push_advice(git),
    };
    let reason = match git.name {
        "push" => "git push can discard commits on the remote".to_owned(),
        "sparse-checkout" | "update-index" => format!("git {} can hide or discard work", git.name),
        name => format!("git {name} can discard work"),
    };
    let mut denial = git.deny(Rule::R44, reason).instead(instead);
    denial.remedy = remedy::destructive(git.call.policy());
    Err(denial)
}

/// Returns whether a fetch overwrites or deletes branches or tags of this repository.
fn overwrites_refs(git: &Git<'_, '_, '_, '_>) -> bool {
    let read = &git.read;
    let prunes = read.may_have(Some('p'), "prune");
    let is_forced = prunes || read.may_have(Some('f'), "force");
    let has_target = |operand: &Arg<'_>| {
        let may_be = |refspec: &str| {
            let (source, is_forced) = match refspec.strip_prefix('+') {
                Some(rest) => (rest, true),
                None => (refspec, is_forced),
            };
            let target = source.split_once(':').map(|(_, target)| target);
            let is_tracking = |target: &str| {
                ["refs/remotes/", "remotes/"]
                    .iter()
                    .any(|start| target.starts_with(start))
            };
            is_forced && target.is_some_and(|target| !target.is_empty() && !is_tracking(target))
        };
        if operand.is_static() {
            return may_be(&operand.text);
        }
        // A variable may hold the refspec.
        let found = Cell::new(false);
        value_prefix::holds_for_all(git.call.context.scope, operand, &|beginning| {
            if let ValuePrefix::Whole(text) | ValuePrefix::Text(text) = beginning {
                let is_open = !matches!(beginning, ValuePrefix::Whole(_));
                let starts_forced = is_open && text.starts_with('+') && !text.contains(':');
                found.set(found.get() || starts_forced || may_be(text));
            }
            true
        });
        found.get()
    };
    let mut refmaps = read.flags.iter().filter(|flag| flag.may_be("refmap"));
    let mut refspecs = read.operands.iter().skip(1);
    (git.name == "fetch" && read.may_have(Some('P'), "prune-tags"))
        || refmaps.any(|flag| flag.value.as_ref().is_some_and(has_target))
        || refspecs.any(|operand| has_target(operand.arg))
}

/// Returns whether a subcommand loses or hides work in a way that no reflog records.
fn hides_work(git: &Git<'_, '_, '_, '_>) -> bool {
    let read = &git.read;
    let has = |letter, name| read.may_have(letter, name);
    let has_any = |names: &[&'static str]| names.iter().any(|name| has(None, name));
    let first_is = |words: &[&str]| words.iter().any(|word| read.first_may_be(word));
    let has_second_name = || read.at(1).next().is_some();
    match git.name {
        "branch" => {
            let deletes = has(Some('d'), "delete") || has(Some('D'), "delete");
            let overwrites = has(Some('M'), "force") || has(Some('C'), "force");
            (overwrites || has(Some('f'), "force")) && !deletes && has_second_name()
        }
        "tag" => has(Some('f'), "force"),
        "read-tree" => has_any(&["empty", "reset"]),
        "update-index" => has_any(&[
            "assume-unchanged",
            "cacheinfo",
            "force-remove",
            "fsmonitor-valid",
            "index-info",
            "skip-worktree",
        ]),
        "update-ref" => has(Some('d'), "stdin"),
        "symbolic-ref" => {
            let is_head = |name: &Arg<'_>| {
                name.known()
                    .is_some_and(|name| name == "HEAD" || is_head_of_remote(name))
            };
            let changes = has_second_name() || has(Some('d'), "delete");
            changes && !read.at(0).all(is_head)
        }
        "sparse-checkout" => first_is(&["add", "init", "reapply", "set"]),
        "stash" => first_is(&["clear", "drop"]),
        "submodule" => first_is(&["deinit"]) && has(Some('f'), "force"),
        // It removes the tracked files from the working tree.
        "switch" => has(None, "orphan"),
        "worktree" => first_is(&["remove"]) && has(Some('f'), "force"),
        _ => false,
    }
}

/// Returns whether a ref is the default branch of a remote: `refs/remotes/origin/HEAD`.
fn is_head_of_remote(name: &str) -> bool {
    name.starts_with("refs/remotes/") && name.ends_with("/HEAD")
}

/// Returns the alternative to a push that may overwrite or delete a branch.
fn push_advice(git: &Git<'_, '_, '_, '_>) -> &'static str {
    let has = |letter, name| git.read.may_have(letter, name);
    if has(Some('f'), "force") {
        "use --force-with-lease instead of --force"
    } else if has(Some('d'), "delete") || has(None, "mirror") || has(None, "prune") {
        "push single branches by name, and leave the others on the remote"
    } else {
        "write the refspec literally or in quotes, without + or : in front"
    }
}

/// Returns whether `refspec` starts with `+`, which overwrites a branch, or with `:`, which deletes
/// it, or may do so.
fn may_force(git: &Git<'_, '_, '_, '_>, refspec: &Arg<'_>) -> bool {
    let is_one_word = !may_split(git.call, refspec) || refspec.is_static();
    // `:` alone pushes the branches that both sides have.
    let discards = |text: &str| text.starts_with('+') || (text.starts_with(':') && text != ":");
    !value_prefix::holds_for_all(
        git.call.context.scope,
        refspec,
        &|beginning| match beginning {
            ValuePrefix::Whole(text) => !discards(text) && (is_one_word || !has_blanks(text)),
            ValuePrefix::Text(text) => is_one_word && !text.starts_with(['+', ':']),
            ValuePrefix::Number | ValuePrefix::AbsolutePath => true,
            ValuePrefix::CommandOutput { words, .. } => prints_name(&words),
        },
    )
}
