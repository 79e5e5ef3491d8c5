//! Git restrictions of sync mode: no change of the working tree.

use super::{Git, outputs};
use crate::Rule;
use crate::check::call::Checked;

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let read = &git.read;
    let changes = match git.name {
        "checkout" | "switch" | "mv" | "apply" | "am" | "merge" | "rebase" | "pull"
        | "cherry-pick" | "revert" | "clone" | "init" | "clean" => true,
        "restore" => !read.surely_has(Some('S'), "staged") || read.may_have(Some('W'), "worktree"),
        "reset" => ["hard", "merge", "keep"]
            .iter()
            .any(|mode| read.may_have(None, mode)),
        "rm" => !read.surely_has(None, "cached"),
        "stash" => !matches!(read.word(), Some("list" | "show")),
        "bisect" => read.word() != Some("log"),
        "worktree" => ["add", "remove", "move"]
            .iter()
            .any(|word| read.first_may_be(word)),
        "submodule" => match read.word() {
            None => !read.operands.is_empty(),
            Some(word) => !matches!(word, "status" | "summary"),
        },
        "sparse-checkout" => read.word() != Some("list"),
        "read-tree" => read.may_have(Some('u'), "update"),
        // It writes the recorded resolutions.
        "rerere" => read.word().is_none(),
        // It writes files to the current directory, unless another one is given.
        "format-patch" => {
            let mut flags = read.flags.iter();
            !read.surely_has(None, "stdout")
                && !flags.any(|flag| flag.is_certain && outputs::names_file(git, flag))
        }
        _ => false,
    };
    if changes {
        Err(git
            .deny(
                Rule::R45,
                format!("git {} changes the working tree in sync mode", git.name),
            )
            .instead("use git log, show, diff or status"))
    } else {
        Ok(())
    }
}
