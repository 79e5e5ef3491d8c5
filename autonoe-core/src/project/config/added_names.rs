//! Names of commands and processes that a configuration adds.

use autonoe_security::AllowCommands;

/// Says what is wrong with `name` as the name of a command or a process.
pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("it is blank; write a name or remove it")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Some("it must be one word, without arguments")
    } else {
        None
    }
}

/// Says what is wrong with `name` as a command that the configuration adds.
pub(super) fn command_problem(name: &str) -> Option<&'static str> {
    let is_destructive = matches!(name.rsplit('/').next(), Some("rm" | "mv"));
    match name_problem(name) {
        None if is_destructive => {
            Some("it cannot be added; `--allow-destructive` allows rm and mv inside the project")
        }
        None if AllowCommands::refuses(name) => {
            Some("it cannot be added, because it changes what other commands mean")
        }
        problem => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: spec/5.4/allow-commands
    #[test]
    fn commands_that_delete_or_change_others_cannot_be_added() {
        for name in ["rm", "mv", "/bin/rm", "eval", "source", ".", "alias", ""] {
            assert!(command_problem(name).is_some(), "{name}");
        }
        for name in ["docker", "just", "./rm.sh", "rmdir"] {
            assert_eq!(command_problem(name), None, "{name}");
        }
    }
}
