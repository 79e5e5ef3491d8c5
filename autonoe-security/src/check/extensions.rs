//! Commands that the user adds.

use super::call::{Call, Checked};
use super::remedy;
use crate::policy::{Mode, Policy};
use crate::{Denial, Rule};

/// What cannot be added: it deletes, or it changes what other commands mean.
const NEVER: &[&str] = &[
    "rm", "mv", "eval", "exec", "trap", "source", ".", "alias", "unalias", "enable", "hash",
    "bind", "builtin", "complete", "compgen", "compopt", "fc", "history", "pushd", "popd", "let",
];

/// Builtins that are free once they are added.
const FREE_BUILTINS: &[&str] = &[
    "kill", "umask", "ulimit", "dirs", "fg", "bg", "suspend", "logout", "help", "caller",
];

/// Tells whether the user has added the command.
pub(crate) fn is_added(policy: &Policy, name: &str, written: &str) -> bool {
    let added = policy.extensions();
    !added.is_empty() && !NEVER.contains(&name) && (added.contains(name) || added.contains(written))
}

/// Tells whether a builtin that was added takes any arguments.
pub(crate) fn is_free_builtin(name: &str) -> bool {
    FREE_BUILTINS.contains(&name)
}

/// Alternatives to commands that agents often request.
const ALTERNATIVES: &[(&[&str], &str)] = &[
    (
        &["awk", "ed", "perl", "sed"],
        "change files with the Edit tool, and search them with grep, cut or jq",
    ),
    (
        &["dd", "install", "tee", "touch", "truncate"],
        "create files with the Write tool or with a redirection",
    ),
    (
        &["less", "more", "nano", "vi", "vim"],
        "use cat, head or tail",
    ),
    (
        &["rmdir", "unlink"],
        "leave it in place, or use git rm for tracked files",
    ),
    (
        &["bash", "dash", "env", "nohup", "sh", "time", "xargs", "zsh"],
        "run the command itself, without this wrapper",
    ),
    (
        &["cmake", "just", "make", "ninja"],
        "run the commands of its recipe",
    ),
    (
        &["curl", "http", "wget"],
        "test local servers from the project's test suite, and read web pages with WebFetch, if you \
         have it",
    ),
    (
        &[
            "apk", "apt", "apt-get", "brew", "dnf", "doas", "su", "sudo", "yum",
        ],
        "work with what is installed, and with packages of the project",
    ),
];

/// Returns what the agent can do without the command `name`.
fn alternative(mode: Mode, name: &str) -> &'static str {
    let mut known = ALTERNATIVES.iter();
    match (mode, known.find(|(names, _)| names.contains(&name))) {
        (Mode::Run, Some((_, alternative))) => alternative,
        (Mode::Run, None) => {
            "use a file tool or another command; if there is none, leave this out and name the \
             command in your last message"
        }
        (Mode::Sync, _) => {
            "verify with another command; if there is none, leave this out and name the command in \
             your last message"
        }
    }
}

/// Makes the denial of a command that is on no list.
pub(crate) fn not_in_allowlist(call: &Call<'_, '_, '_>) -> Denial {
    let name = call.name;
    let reason = format!("Command '{name}' is not in the allowlist");
    let listed = call.policy().config().allow_commands.is_listed(name);
    if NEVER.contains(&name) {
        return call.deny(Rule::R71, reason).instead("do it another way");
    }
    let rule = match listed {
        true => Rule::R70,
        false => Rule::R7,
    };
    let mut denial = call
        .deny(rule, reason)
        .instead(alternative(call.mode(), name));
    denial.remedy = remedy::command(call.policy(), name);
    denial
}

/// Judges a command that is there because the user added it: wrappers are looked into.
pub(crate) fn check(call: &Call<'_, '_, '_>) -> Checked {
    super::commands::wrapper(call.name).map_or(Ok(()), |unwrap| unwrap(call))
}
