//! `git config`: reading any key, writing only harmless keys of the project.

use super::word_splitting::adds_no_option;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::text::has_only;
use crate::policy::Mode;
use crate::{Denial, Rule};

/// Keys that name neither a program nor a location.
const HARMLESS: &[&str] = words!(
    "user.name user.email init.defaultbranch core.autocrlf core.eol core.filemode core.ignorecase",
    "core.quotepath core.longpaths pull.rebase pull.ff push.default push.autosetupremote",
    "fetch.prune commit.gpgsign tag.gpgsign rerere.enabled merge.conflictstyle diff.noprefix",
);

/// Returns whether the setting `key` is harmless with any value.
pub(super) fn is_harmless_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let parts: Vec<&str> = key.split('.').collect();
    let is_free = match parts[..] {
        ["advice", name] | ["color", name] => is_plain(name),
        ["color", group, name] => is_plain(group) && is_plain(name),
        _ => false,
    };
    is_free || HARMLESS.contains(&key.as_str())
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && has_only(name, "-")
}

/// Returns whether the value of a setting becomes the name of a branch, so that it must not be an
/// option.
pub(super) fn names_branch(key: &str) -> bool {
    key.eq_ignore_ascii_case("init.defaultBranch")
}

/// Options that reading never needs, or that write to other files.
const OTHER_FILES: &[&str] = words!("--global --system --worktree --file --blob --edit");

/// Options that only format the output.
const SHAPING: &[&str] = words!(
    "--local --show-origin --show-scope --null --name-only --includes --no-includes --bool --int",
    "--bool-or-int --path --expiry-date --no-type",
);

const READING: &[&str] =
    words!("--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list");

const WRITING: &[&str] = words!("--add --unset --unset-all --replace-all --remove-section");

pub(super) fn check(call: &Call<'_, '_, '_>, subcommand: &Arg<'_>, args: &[Arg<'_>]) -> Checked {
    let (mut reads, mut writes, mut outside) = (false, false, None);
    let mut operands = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg.is("--") {
            operands.extend(args.by_ref());
            break;
        }
        if !call.is_option_safe(arg) {
            return Err(call.deny_dynamic(arg));
        }
        let text = arg.text.as_ref();
        // After a key, everything is a value; after a subcommand, its options follow.
        let is_behind_key = match &operands[..] {
            [] => false,
            [only] => !is_subcommand(only),
            _ => true,
        };
        if !text.starts_with('-') || !arg.is_static() || is_behind_key {
            let name = text.split('=').next().unwrap_or(text);
            if OTHER_FILES.contains(&name) {
                outside = Some(arg);
            }
            operands.push(arg);
            continue;
        }
        let name = text.split('=').next().unwrap_or(text);
        match name {
            "-l" => reads = true,
            "-z" | "-a" => {}
            "-f" | "-e" => outside = Some(arg),
            "--type" | "--default" if !text.contains('=') => {
                let value = args.next();
                if let Some(value) = value.filter(|value| !is_one_value(call, value)) {
                    return Err(call.deny_dynamic(value).instead("put it into quotes"));
                }
            }
            "--type" | "--default" => {}
            name if SHAPING.contains(&name) => {}
            name if READING.contains(&name) => reads = true,
            name if WRITING.contains(&name) => writes = true,
            name if OTHER_FILES.iter().any(|full| full.starts_with(name)) => {
                outside = Some(arg);
                if !text.contains('=') && matches!(name, "--file" | "--blob") {
                    args.next();
                }
            }
            _ => return Err(deny_flag(Rule::R42, text, arg)),
        }
    }
    let mut words = operands.iter().map(|operand| operand.known());
    match (words.next(), operands.len()) {
        (Some(Some("get" | "list")), _) => {}
        // A harmless section could be renamed to any other.
        (Some(Some("rename-section")), _) => {
            return Err(deny_flag(Rule::R42, "rename-section", subcommand));
        }
        (Some(Some("set" | "unset" | "remove-section")), _) => {
            writes = true;
            operands.remove(0);
        }
        (Some(Some("edit")), 1) => return Err(deny_flag(Rule::R42, "edit", subcommand)),
        (_, 0 | 1) if !writes => {}
        _ => writes |= !reads,
    }
    if !writes {
        if let Some(key) = operands.iter().find(|key| may_name_secret(key)) {
            let reason = format!("'{}' may be a setting with a token", key.text);
            return Err(Denial::by(Rule::R94, key.span, reason)
                .instead("read another setting, such as git config user.name"));
        }
        return match outside {
            Some(arg) if arg.is("-e") || arg.text.starts_with("--e") => {
                Err(deny_flag(Rule::R42, &arg.text, arg))
            }
            _ => Ok(()),
        };
    }
    if let Some(arg) = outside {
        return Err(deny_flag(Rule::R42, &arg.text, arg));
    }
    if call.mode() == Mode::Sync {
        let reason = "git config changes a setting in sync mode";
        return Err(Denial::by(Rule::R45, subcommand.span, reason)
            .instead("use git config with a key only, which prints the setting"));
    }
    let key = operands.first().and_then(|key| key.known());
    let mut values = operands.iter().skip(1);
    let is_option = values.any(|it| it.text.starts_with('-') || !call.is_option_safe(it));
    match key {
        Some(key) if is_harmless_key(key) && !(is_option && names_branch(key)) => Ok(()),
        key => {
            let reason = format!(
                "the setting '{}' of git may not be changed",
                key.unwrap_or("?")
            );
            Err(Denial::by(Rule::R42, subcommand.span, reason)
                .instead("leave git's settings to the user"))
        }
    }
}

fn is_subcommand(arg: &Arg<'_>) -> bool {
    let names = words!("get list set unset rename-section remove-section edit");
    arg.known().is_some_and(|name| names.contains(&name))
}

/// Returns whether a setting, or a pattern for settings, may contain a token or a password.
fn may_name_secret(key: &Arg<'_>) -> bool {
    let key = key.text.to_ascii_lowercase();
    let is_http = key == "http" || key.contains("http.") || key.contains("header");
    let is_harmless = key.ends_with(".proxy") || key.ends_with(".version");
    (is_http && !is_harmless)
        || ["passw", "secret", "token"]
            .iter()
            .any(|word| key.contains(word))
}

fn is_one_value(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> bool {
    !value.is_pattern() && adds_no_option(call, value)
}

fn deny_flag(rule: Rule, flag: &str, arg: &Arg<'_>) -> Denial {
    let reason = format!("Flag '{flag}' is not allowed with git config");
    Denial::by(rule, arg.span, reason).instead("run it without the flag")
}
