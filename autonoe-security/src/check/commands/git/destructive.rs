//! Git commands that destroy work irrecoverably.

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
        "reflog" => ["expire", "delete"]
            .iter()
            .any(|word| git.read.first_may_be(word)),
        "gc" => git.read.may_have(None, "prune"),
        _ => false,
    };
    if !destroys || git.call.policy().allows_destructive() {
        return Ok(());
    }
    let instead = match git.name {
        "clean" => "list the files with git clean -n, and leave them in place",
        "remote" => "add it without --mirror",
        "gc" | "reflog" => "use git gc without --prune, and git reflog show",
        _ => push_advice(git),
    };
    let reason = match git.name {
        "push" => "git push can discard commits on the remote".to_owned(),
        name => format!("git {name} can discard work"),
    };
    let mut denial = git.deny(Rule::R44, reason).instead(instead);
    denial.remedy = remedy::destructive(git.call.policy());
    Err(denial)
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
