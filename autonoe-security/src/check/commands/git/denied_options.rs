//! Git options that run another program or leave the project.

use super::Git;
use super::parsed_args::Flag;
use crate::Rule;
use crate::check::call::Checked;

/// Denied with every subcommand.
const ANYWHERE: &[&str] = words!(
    "upload-pack receive-pack exec ext-diff textconv open-files-in-pager extcmd separate-git-dir",
    "unsafe-paths",
);

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let (letters, own): (&[char], &[&str]) = match git.name {
        "clone" => (&['u', 'c'], &["config", "template"]),
        "init" => (&[], &["template"]),
        "archive" => (&[], &["remote"]),
        "rebase" => (&['x'], &[]),
        // These start a browser or another viewer.
        "help" => (&['w', 'i'], &["web", "info"]),
        "grep" => (&['O'], &[]),
        _ => (&[], &[]),
    };
    let is_refused = |flag: &&Flag<'_, '_>| {
        ANYWHERE.iter().chain(own).any(|name| flag.may_be(name))
            || letters.iter().any(|letter| flag.is_letter(*letter))
    };
    let mut flags = git.read.flags.iter();
    match flags.find(|flag| is_refused(flag) || forwards_option(git, flag)) {
        Some(flag) => {
            let text = flag.arg.text.as_ref();
            let name = text.split('=').next().unwrap_or(text);
            Err(git.deny_flag(Rule::R43, name, flag.arg))
        }
        None => Ok(()),
    }
}

/// Returns whether `format-patch` may pass the value of an option to another git as an option.
fn forwards_option(git: &Git<'_, '_, '_, '_>, flag: &Flag<'_, '_>) -> bool {
    let hands_on = ["range-diff", "interdiff"];
    git.name == "format-patch"
        && hands_on.iter().any(|name| flag.may_be(name))
        && flag
            .value
            .as_ref()
            .is_some_and(|value| value.text.starts_with('-') || !git.call.is_option_safe(value))
}
