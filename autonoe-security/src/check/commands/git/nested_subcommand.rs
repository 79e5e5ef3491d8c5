//! Nested subcommands, such as `add` in `git remote add`.

use super::Git;
use crate::check::call::Checked;
use crate::{Denial, Rule};

/// Subcommands whose second word determines their action.
const WITH_SECOND_WORD: &[&str] =
    words!("bisect bundle notes reflog remote sparse-checkout stash submodule worktree");

/// Checks that the second word is known, because it determines the meaning of the following
/// arguments.
pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let has_one = WITH_SECOND_WORD.contains(&git.name) && !names_files_only(git);
    match git.read.at(0).find(|word| word.known().is_none()) {
        Some(word) if has_one => {
            let reason = format!(
                "the second word of git {} is unknown until it runs",
                git.name
            );
            Err(Denial::by(Rule::R21, word.span, reason).instead("write it literally"))
        }
        _ => Ok(()),
    }
}

/// Returns whether only options precede `--`, as in `git stash -- FILE`.
fn names_files_only(git: &Git<'_, '_, '_, '_>) -> bool {
    let mut before = git.args.iter().take_while(|arg| !arg.is("--"));
    let all_are_options = before.all(|arg| arg.text.starts_with('-'));
    git.name == "stash" && all_are_options && git.args.iter().any(|arg| arg.is("--"))
}
