//! Tool calls that change the machine beyond the project.

use super::CommandReading;
use super::abbreviations::possible_subcommands;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::tool_options::spelling::matches_option;

pub(super) fn check(call: &Call<'_, '_, '_>, words: &CommandReading<'_, '_>) -> Checked {
    let Some(word) = words.first() else {
        return Ok(());
    };
    let changes = |word: &String| changes_machine(call, word, words);
    if possible_subcommands(call.name, word).iter().all(changes) {
        let reason = format!("'{} {word}' changes the machine", call.name);
        Err(call
            .deny(Rule::R52, reason)
            .instead("change the project only"))
    } else {
        Ok(())
    }
}

fn changes_machine(call: &Call<'_, '_, '_>, word: &str, words: &CommandReading<'_, '_>) -> bool {
    let sets = |ways: &[&str]| words.any_operand_after(|word| ways.contains(&word));
    match (call.name, word) {
        ("yarn", "global") | ("npm" | "pnpm", "set") | ("conda", "config") => true,
        ("rustup" | "uv", "self") | ("pdm", "plugin") => true,
        ("rustup", "default" | "set" | "uninstall") => true,
        ("pipx", "ensurepath") | ("pnpm", "setup" | "self-update") => true,
        ("bun" | "deno", "upgrade") | ("composer", "self-update" | "selfupdate") => true,
        // They remove packages that other projects use.
        ("bundle" | "bundler", "clean") | ("gem", "cleanup") => true,
        ("deno", "jupyter") => {
            let installs = |arg: &Arg<'_>| arg.text.starts_with("--install") || arg.is("-i");
            call.args.iter().any(installs)
        }
        ("uv", "tool") => sets(&["update-shell"]),
        ("uv", "pip") => {
            sets(&["install", "sync", "uninstall"])
                && (call.has("--system") || call.has("--break-system-packages"))
        }
        ("poetry" | "pdm" | "hatch", "self") => !sets(&["update"]),
        ("go", "telemetry") => !words.rest().is_empty(),
        ("go", "clean") => call.args.iter().any(|arg| {
            let name = arg.text.trim_start_matches('-');
            arg.text.starts_with('-') && matches!(name, "modcache" | "modcache=true")
        }),
        ("deno", "install" | "i" | "add" | "uninstall") => call.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
            text == "--global" || letters.is_some_and(|letters| letters.contains('g'))
        }),
        ("rustup", "toolchain" | "component" | "target") => {
            sets(&["link", "uninstall", "remove", "rm"])
        }
        ("gem", "sources") => {
            let mut rest = words.rest().iter();
            rest.any(|arg| !arg.is("-l") && !arg.is("--list"))
        }
        ("gem", "update") => call.args.iter().any(|arg| arg.text.starts_with("--sys")),
        ("npm", "config") => sets(&["set", "s", "delete", "del", "rm", "edit"]),
        ("yarn" | "pnpm", "config" | "c") => sets(&["set", "delete", "del", "rm", "unset", "edit"]),
        ("pip" | "pip3", "install" | "uninstall") => {
            let breaks =
                |arg: &Arg<'_>| matches_option(call.name, &arg.text, "--break-system-packages");
            call.args.iter().any(breaks)
        }
        // It registers the project for all others.
        ("npm", "link" | "ln") | ("yarn" | "bun", "link") => true,
        ("pip" | "pip3", "config") => sets(&["set", "unset", "edit"]),
        ("hatch", "config") => sets(&["set", "restore"]),
        ("pdm", "config") => {
            words.rest().len() > 1 || call.args.iter().any(|arg| arg.text.starts_with("-d"))
        }
        ("poetry", "config") => !call.has("--list") && !call.has("--local"),
        ("bundle" | "bundler", "config") => !call.has("--local") && bundle_sets(words),
        ("go", "env") => call.args.iter().any(|arg| {
            let name = arg.text.split('=').next().unwrap_or_default();
            matches!(name, "-w" | "-u" | "--w" | "--u")
        }),
        ("composer", "config") => call.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            let is_cluster = text.starts_with('-') && !text.starts_with("--") && text.contains('g');
            is_cluster || (text.len() > 3 && "--global".starts_with(text))
        }),
        _ => false,
    }
}

/// Returns whether `bundle config ..` changes a setting.
fn bundle_sets(words: &CommandReading<'_, '_>) -> bool {
    let mut rest = words
        .rest()
        .iter()
        .filter(|arg| !arg.is("--parseable") && !arg.is("--global"));
    let first = rest.next().map(|arg| arg.text.as_ref());
    match first {
        None | Some("list" | "get") => false,
        Some("set" | "unset") => true,
        // The legacy form: NAME prints, NAME VALUE sets, and the value may be an option.
        Some(_) => rest.next().is_some(),
    }
}
