//! Commands that the user adds.

use super::call::{Call, Checked};
use crate::policy::Policy;
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

/// Makes the denial of a command that is on no list.
pub(crate) fn not_in_allowlist(call: &Call<'_, '_, '_>) -> Denial {
    let name = call.name;
    let reason = format!("Command '{name}' is not in the allowlist");
    let listed = call.policy().config().allow_commands.is_listed(name);
    if NEVER.contains(&name) {
        return call
            .deny(Rule::R71, reason)
            .instead("it cannot be added; do it another way");
    }
    match listed {
        true => call.deny(Rule::R70, reason).instead(format!(
            "put \"{name}\" under allowCommands.sync or .base in agent.json"
        )),
        false => call.deny(Rule::R7, reason).instead(format!(
            "use a listed command, or add \"{name}\" to allowCommands"
        )),
    }
}

/// Judges a command that is there because the user added it: wrappers are looked into.
pub(crate) fn check(call: &Call<'_, '_, '_>) -> Checked {
    super::commands::wrapper(call.name).map_or(Ok(()), |unwrap| unwrap(call))
}
