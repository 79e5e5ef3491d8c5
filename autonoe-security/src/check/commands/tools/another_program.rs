//! Options that start another program, in both modes.

use super::CommandReading;
use super::abbreviations::possible_subcommands;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::tool_options::option_name;
use crate::check::nested;

pub(in crate::check::commands) fn check<'c, 's>(
    call: &Call<'c, '_, 's>,
    words: &CommandReading<'c, 's>,
) -> Checked {
    let subcommand = match call.name {
        "cargo-watch" => Some("watch"),
        "cargo" => words.first(),
        _ => None,
    };
    if let Some(toolchain) = toolchain(call, words).filter(|it| it.text.contains('/')) {
        return Err(call.deny_flag(Rule::R53, &toolchain.text, toolchain.span));
    }
    opens_editor(call, words)?;
    if !matches!(call.name, "cargo" | "cargo-watch" | "go" | "rustc") {
        return Ok(());
    }
    // There the arguments after `--` are for the compiler.
    let hands_on = matches!(subcommand, Some("rustc" | "rustdoc"));
    let own = call.args.iter().take_while(|arg| hands_on || !arg.is("--"));
    let mut before = "";
    for arg in own {
        let text = arg.text.as_ref();
        let name = option_name(text);
        let is_refused = match call.name {
            "go" => {
                matches!(
                    name.trim_start_matches('-'),
                    "exec" | "toolexec" | "vettool" | "overlay"
                ) && name.starts_with('-')
            }
            "cargo" if name == "--config" => true,
            "cargo" | "cargo-watch" if subcommand == Some("watch") => {
                is_shell_of_watch(name) || is_refused_task(call, before, arg)
            }
            "rustc" => chooses_linker(before, text),
            "cargo" if hands_on => chooses_linker(before, text),
            _ => false,
        };
        if is_refused {
            return Err(call.deny_flag(Rule::R53, name, arg.span));
        }
        before = text;
    }
    Ok(())
}

/// Subcommands that open an editor or a shell.
const INTERACTIVE: &[(&str, &str)] = &[
    ("gem", "open"),
    ("bundle", "open"),
    ("bundler", "open"),
    ("npm", "edit"),
    ("poetry", "shell"),
    ("hatch", "shell"),
    ("pipenv", "open"),
    ("pipenv", "shell"),
];

/// Checks that no editor and no interactive shell starts.
fn opens_editor(call: &Call<'_, '_, '_>, words: &CommandReading<'_, '_>) -> Checked {
    let Some(word) = words.first() else {
        return Ok(());
    };
    let is_interactive = |word: &String| INTERACTIVE.contains(&(call.name, word.as_str()));
    let edits = (call.name, word) == ("composer", "config")
        && call
            .args
            .iter()
            .any(|arg| arg.is("-e") || arg.text.starts_with("--edi"));
    if edits
        || possible_subcommands(call.name, word)
            .iter()
            .all(is_interactive)
    {
        let reason = format!("'{} {word}' opens an editor or a shell", call.name);
        Err(call
            .deny(Rule::R53, reason)
            .instead("read and change the files with other commands"))
    } else {
        Ok(())
    }
}

/// Returns the toolchain that replaces the default one. A path could be any program.
fn toolchain<'c, 's>(
    call: &Call<'c, '_, 's>,
    words: &CommandReading<'c, 's>,
) -> Option<&'c Arg<'s>> {
    match call.name {
        "rustup" if words.first() == Some("run") => {
            let mut rest = words.rest().iter();
            rest.find(|arg| !arg.text.starts_with('-'))
        }
        "cargo" | "cargo-clippy" | "cargo-fmt" | "clippy" | "rust-analyzer" | "rustc"
        | "rustfmt" | "rustup" => call.args.first().filter(|arg| arg.text.starts_with('+')),
        _ => None,
    }
}

fn chooses_linker(before: &str, text: &str) -> bool {
    text.starts_with("-Clinker")
        || text.starts_with("--codegen=linker")
        || (matches!(before, "-C" | "--codegen") && text.starts_with("linker"))
        // A file with more options.
        || text.starts_with('@')
}

/// Returns whether it is `-s` or `--shell` of cargo-watch, also in a cluster.
fn is_shell_of_watch(name: &str) -> bool {
    if name == "--shell" || name == "--use-shell" {
        return true;
    }
    let Some(letters) = name
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'))
    else {
        return false;
    };
    let values = "xiwdEBC";
    let end = letters
        .find(|letter| values.contains(letter))
        .unwrap_or(letters.len());
    letters[..end].contains('s')
}

/// Returns whether `-x TASK` of cargo-watch is a task that is denied for cargo.
fn is_refused_task(call: &Call<'_, '_, '_>, before: &str, arg: &Arg<'_>) -> bool {
    let is_task = matches!(before, "-x" | "--exec");
    let task = match arg.known() {
        Some(text) if is_task => Some(text),
        Some(text) => text
            .strip_prefix("--exec=")
            .or_else(|| text.strip_prefix("-x").filter(|task| !task.is_empty())),
        None if is_task => return true,
        None => None,
    };
    task.is_some_and(|task| nested::check(call, &format!("cargo {task}"), arg.span).is_err())
}
