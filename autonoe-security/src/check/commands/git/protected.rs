//! Protects git's own files and Autonoe's state from git commands.
//!
//! Git ignores the state (`.autonoe/.gitignore`), so everyday commands leave it alone:
//! `git add -A`, `git stash -u`, `git checkout .`, `git clean -fd`. This module denies commands
//! whose text shows that they name the state, include ignored files, or move a symlink.

use super::Git;
use super::parsed_args::Flag;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::glob_targets::{matches_path, targets_name};
use crate::check::{path, protected_state};
use crate::{Denial, Rule};

const STATE: &[&str] = &path::STATE_FOLDERS;
const BOTH: &[&str] = words!(".autonoe .harness .git");

/// Files of the state that a pattern may match without its directory.
const STATE_FILES: &[&str] =
    words!(".autonoe/status.json .autonoe/journal.jsonl .autonoe/agent.json");

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let (operands, values) = match git.name {
        "checkout" | "restore" | "rm" | "mv" => (BOTH, BOTH),
        "clean" => {
            clean(git)?;
            (BOTH, BOTH)
        }
        "stash" => {
            stash(git)?;
            (BOTH, &[][..])
        }
        "add" if git.read.may_have(Some('f'), "force") => {
            add_ignored(git)?;
            (BOTH, BOTH)
        }
        // Their operands are patches, which are only read.
        "apply" | "am" => {
            patch_in_text(git)?;
            known_values(git, "directory")?;
            (STATE, BOTH)
        }
        "read-tree" => {
            known_values(git, "prefix")?;
            (&[][..], BOTH)
        }
        "sparse-checkout" => (STATE, &[][..]),
        "update-index" => {
            patch_in_text(git)?;
            return index_entry(git);
        }
        "mktree" => return patch_in_text(git),
        _ => return Ok(()),
    };
    let named = |arg: &&Arg<'_>, names| is_named(git, arg, names);
    let mut all = git.read.operands.iter().map(|operand| operand.arg);
    let flags = git.read.flags.iter().filter(|flag| !excludes(git, flag));
    let mut given = flags.filter_map(|flag| flag.value.as_ref());
    let found = all
        .find(|arg| named(arg, operands))
        .or_else(|| given.find(|arg| named(arg, values)));
    match found {
        Some(arg) => Err(changes(git, arg)),
        None => Ok(()),
    }
}

/// Returns whether the value of an option is excluded from git's operation.
fn excludes(git: &Git<'_, '_, '_, '_>, flag: &Flag<'_, '_>) -> bool {
    match git.name {
        "clean" => flag.is_letter('e') || flag.may_be("exclude"),
        "apply" | "am" => flag.may_be("exclude"),
        _ => false,
    }
}

/// Checks that a stash includes no ignored files, such as the state.
fn stash(git: &Git<'_, '_, '_, '_>) -> Checked {
    let pushes = matches!(git.read.word(), None | Some("push" | "save"));
    if pushes && git.read.may_have(Some('a'), "all") {
        Err(git
            .deny(
                Rule::R93,
                "git stash --all would remove .autonoe and .harness",
            )
            .instead("use git stash -u"))
    } else {
        Ok(())
    }
}

/// Checks that `git clean` does not delete the ignored state.
fn clean(git: &Git<'_, '_, '_, '_>) -> Checked {
    let has = |letter| git.read.flags.iter().any(|flag| flag.is_letter(letter));
    let deletes_ignored = has('x') || has('X');
    if !deletes_ignored || git.read.surely_has(Some('n'), "dry-run") || !covers_root(git) {
        return Ok(());
    }
    let is_retained = |folder: &str| {
        git.read.flags.iter().any(|flag| {
            let value = flag.value.as_ref().and_then(Arg::known);
            let name = value.map(|text| text.trim_matches('/'));
            flag.is_certain && excludes(git, flag) && name == Some(folder)
        })
    };
    if !has('X') && STATE.iter().all(|folder| is_retained(folder)) {
        Ok(())
    } else {
        Err(git
            .deny(
                Rule::R93,
                "git clean would delete the ignored .autonoe and .harness",
            )
            .instead(
                "use git clean -fdx -e .autonoe -e .harness, or name the directories to clean",
            ))
    }
}

/// Checks that ignored files of the state are not added to the index, from which a checkout would
/// overwrite them.
fn add_ignored(git: &Git<'_, '_, '_, '_>) -> Checked {
    let has_operands = !git.read.operands.is_empty();
    let adds = has_operands || git.read.may_have(Some('A'), "all");
    if adds && covers_root(git) {
        Err(git
            .deny(
                Rule::R93,
                "git add --force would add the ignored .autonoe and .harness",
            )
            .instead("name the files to add"))
    } else {
        Ok(())
    }
}

/// Returns whether git works on everything below the root of the project, or may do so.
fn covers_root(git: &Git<'_, '_, '_, '_>) -> bool {
    let project = git.call.policy().project_dir();
    let covers = |text: &str| {
        let places = git.here.resolve(text);
        places.is_none_or(|places| places.iter().any(|place| path::is_within(project, place)))
    };
    let mut operands = git.read.operands.iter().map(|operand| operand.arg);
    if git.read.operands.is_empty() {
        return covers(".");
    }
    operands.any(|arg| match arg.known() {
        Some(text) if is_excluded(text) => git.read.operands.len() == 1,
        Some(text) if text.starts_with(':') => true,
        // Git itself matches a quoted pattern.
        Some(text) => match text.find(['*', '?', '[']) {
            Some(at) => text[..at]
                .rfind('/')
                .is_none_or(|slash| covers(&text[..slash])),
            None => covers(text),
        },
        // Patterns of the shell match no hidden names.
        None => !arg.is_pattern() || !arg.is_static(),
    })
}

/// Checks that a directory of a patch or a tree is known.
fn known_values(git: &Git<'_, '_, '_, '_>, option: &str) -> Checked {
    let flags = git.read.flags.iter().filter(|flag| flag.may_be(option));
    let mut values = flags.filter_map(|flag| flag.value.as_ref());
    match values.find(|value| value.known().is_none()) {
        Some(value) => {
            let reason = format!("the directory of git {} is unknown", git.name);
            Err(Denial::by(Rule::R93, value.span, reason).instead("write the path literally"))
        }
        None => Ok(()),
    }
}

/// Checks that no patch in the text of the script changes the state or creates a symlink.
fn patch_in_text(git: &Git<'_, '_, '_, '_>) -> Checked {
    let project = git.call.policy().project_dir();
    match git.call.context.scope.patch_problem(project) {
        Some(problem) => Err(git
            .deny(
                Rule::R93,
                format!("the input of git {} {problem}", git.name),
            )
            .instead("edit the files of the project instead")),
        None => Ok(()),
    }
}

/// Checks an entry of the index, which a checkout then writes to a file.
fn index_entry(git: &Git<'_, '_, '_, '_>) -> Checked {
    let mut args = git.args.iter();
    let project = git.call.policy().project_dir();
    let is_mentioned = |text: &str| protected_state::is_mentioned_in(text, project);
    let is_state = |arg: &&Arg<'_>| is_named(git, arg, STATE) || arg.mentions(is_mentioned);
    if let Some(arg) = args.find(is_state) {
        return Err(changes(git, arg));
    }
    let is_entry = git.read.may_have(None, "cacheinfo");
    let is_symlink = |arg: &&Arg<'_>| {
        let text = arg.text.as_ref();
        let is_unknown = is_entry && !arg.is_static() && text.len() < "100644".len();
        text.contains("120000") || text.contains("160000") || is_unknown
    };
    match git.args.iter().find(is_symlink) {
        Some(arg) => {
            let reason = "the entry of the index may be a symlink";
            Err(Denial::by(Rule::R93, arg.span, reason).instead("add a file with git add"))
        }
        None => Ok(()),
    }
}

/// Returns whether an argument is a path that contains one of `names`, or may be one.
fn is_named(git: &Git<'_, '_, '_, '_>, arg: &Arg<'_>, names: &[&str]) -> bool {
    let project = git.call.policy().project_dir();
    let written = git.call.context.scope.text().get(arg.span.range());
    let is_mentioned = |text: &str| protected_state::is_mentioned_in(text, project);
    (!arg.is_static() && written.is_some_and(is_mentioned))
        || arg.mentions(|text| names_one_of(text, names, project))
}

/// Returns whether a pathspec excludes its matches.
fn is_excluded(text: &str) -> bool {
    match text.strip_prefix(":(").and_then(|it| it.split_once(')')) {
        Some((magic, _)) => magic.split(',').any(|word| word == "exclude"),
        None => text.starts_with(":!") || text.starts_with(":^") || text.starts_with(":/!"),
    }
}

/// Returns whether a component of a path is, or may be, one of `names`.
fn names_one_of(text: &str, names: &[&str], project: &str) -> bool {
    let text = match text.split_once('=') {
        Some((option, value)) if option.starts_with("--") => value,
        _ => text,
    };
    if is_excluded(text) {
        return false;
    }
    // Magic such as `:(top).autonoe` or `:/.autonoe` precedes the path.
    let path = match text.strip_prefix(":(").and_then(|it| it.split_once(')')) {
        Some((_, path)) => path,
        None => text.trim_start_matches(':'),
    };
    // In a pattern of git, a backslash escapes the next character.
    let path = path::below(path, project);
    let unquoted = path.replace('\\', "");
    let is_component = |component: &str| names.iter().any(|name| targets_name(component, name));
    let is_pattern = unquoted.contains(['*', '?', '[']);
    path.split(['/', '\\']).any(is_component)
        || unquoted.split('/').any(is_component)
        || (is_pattern
            && STATE_FILES
                .iter()
                .any(|file| names_state_file(&unquoted, file)))
}

/// Returns whether a pattern matches a file of the state by more than its extension.
fn names_state_file(pattern: &str, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    pattern.to_ascii_lowercase().contains(stem) && matches_path(pattern, file)
}

fn changes(git: &Git<'_, '_, '_, '_>, arg: &Arg<'_>) -> Denial {
    let reason = format!("git {} would change protected files", git.name);
    let instead = protected_state::advice(&arg.text).unwrap_or("name other files");
    Denial::by(Rule::R93, arg.span, reason).instead(instead)
}
