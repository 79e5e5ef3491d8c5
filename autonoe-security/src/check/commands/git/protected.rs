//! Keeps git from overwriting its own files and the state of Autonoe.

use super::Git;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::aims::aims_at;
use crate::check::{path, protected_state};
use crate::{Denial, Rule};

const STATE: &[&str] = &[".autonoe"];
const BOTH: &[&str] = &[".autonoe", ".git"];

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let (operands, values) = match git.name {
        "checkout" | "restore" | "rm" | "mv" | "clean" => (BOTH, BOTH),
        "stash" => (BOTH, &[][..]),
        // Their operands are patches, which are read.
        "apply" | "am" => (STATE, BOTH),
        "read-tree" => (&[][..], BOTH),
        "update-index" if git.read.may_have(None, "cacheinfo") => return index_entry(git),
        _ => return Ok(()),
    };
    if git.name == "stash" && takes_ignored_files(git) {
        return Err(git
            .deny(Rule::R43, "git stash --all would take .autonoe away")
            .instead("use git stash -u"));
    }
    let named = |arg: &&Arg<'_>, names| arg.mentions(|text| names_one_of(text, names));
    let mut all = git.read.operands.iter().map(|operand| operand.arg);
    let mut given = git.read.flags.iter().filter_map(|flag| flag.value.as_ref());
    let found = all
        .find(|arg| named(arg, operands))
        .or_else(|| given.find(|arg| named(arg, values)));
    match found {
        Some(arg) => Err(overwrites(git, arg)),
        None => Ok(()),
    }
}

/// `git update-index --cacheinfo MODE,OBJECT,PATH`, which a checkout then writes to the file.
fn index_entry(git: &Git<'_, '_, '_, '_>) -> Checked {
    let mut args = git.args.iter();
    match args.find(|arg| arg.mentions(protected_state::is_mentioned_in)) {
        Some(arg) => Err(overwrites(git, arg)),
        None => Ok(()),
    }
}

/// Tells whether a stash takes files that git ignores, as it does the state.
fn takes_ignored_files(git: &Git<'_, '_, '_, '_>) -> bool {
    let pushes = matches!(git.read.word(), None | Some("push" | "save"));
    pushes && git.read.may_have(Some('a'), "all")
}

/// Tells whether a component of a path is, or may be, one of `names`.
fn names_one_of(text: &str, names: &[&str]) -> bool {
    let text = match text.split_once('=') {
        Some((option, value)) if option.starts_with("--") => value,
        _ => text,
    };
    // Magic such as `:(top).autonoe` or `:/.autonoe` comes in front of the path.
    let behind_magic = match text.strip_prefix(":(").and_then(|it| it.split_once(')')) {
        Some((_, path)) => path,
        None => text.trim_start_matches([':', '!', '^']),
    };
    behind_magic
        .split(['/', '\\'])
        .any(|component| names.iter().any(|name| aims_at(component, name)))
}

fn overwrites(git: &Git<'_, '_, '_, '_>, arg: &Arg<'_>) -> Denial {
    let reason = format!("git {} would overwrite protected files", git.name);
    let instead = match arg.mentions(path::names_state_folder) {
        true => "use the deliverable tools for .autonoe",
        false => "name other files",
    };
    Denial::by(Rule::R43, arg.span, reason).instead(instead)
}
