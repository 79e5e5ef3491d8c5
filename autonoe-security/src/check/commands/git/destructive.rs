//! What destroys work that cannot be brought back.

use super::Git;
use super::beginnings::{self, Beginning};
use super::splitting::may_split;
use super::urls::{has_blanks, prints_name};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;

/// Checks that work is destroyed only when that is allowed.
pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let destroys = match git.name {
        "clean" => !git.read.surely_has(Some('n'), "dry-run"),
        "push" => {
            let mut operands = git.read.operands.iter();
            git.read.may_have(Some('f'), "force")
                || git.read.may_have(None, "mirror")
                || operands.any(|operand| may_force(git, operand.arg))
        }
        // Each push to such a remote is one with --mirror, and each fetch overwrites branches.
        "remote" => git.read.may_have(None, "mirror"),
        _ => false,
    };
    if !destroys || git.call.policy().allows_destructive() {
        return Ok(());
    }
    let instead = match git.name {
        "clean" => "look with git clean -n, or ask for --allow-destructive",
        "remote" => "add it without --mirror, or ask for --allow-destructive",
        _ => {
            "use --force-with-lease, write what is pushed literally or in quotes, or ask for --allow-destructive"
        }
    };
    Err(git
        .deny(Rule::R44, format!("git {} would destroy work", git.name))
        .instead(instead))
}

/// Tells whether `refspec` begins with `+`, or may do so.
fn may_force(git: &Git<'_, '_, '_, '_>, refspec: &Arg<'_>) -> bool {
    let is_one_word = !may_split(git.call, refspec) || refspec.is_static();
    !beginnings::all(git.call.walk.scope, refspec, &|beginning| match beginning {
        Beginning::Whole(text) => !text.starts_with('+') && (is_one_word || !has_blanks(text)),
        Beginning::Text(text) => is_one_word && !text.starts_with('+'),
        Beginning::Number | Beginning::Place => true,
        Beginning::Printed { words, .. } => prints_name(&words),
    })
}
