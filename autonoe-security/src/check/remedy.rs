//! Changes of the configuration that would allow a denied command.

use std::borrow::Cow;

use crate::policy::{AllowCommands, Mode, Policy, Profile};

type Remedy = Option<Cow<'static, str>>;

/// Adds the command `name` in the mode of `policy`.
pub(crate) fn command(policy: &Policy, name: &str) -> Remedy {
    let key = match (&policy.config().allow_commands, policy.mode()) {
        (AllowCommands::List(_), Mode::Run) => "allowCommands",
        (AllowCommands::Tiered(_), Mode::Run) => "allowCommands.run",
        (_, Mode::Sync) => "allowCommands.sync",
    };
    add(name, key)
}

/// Activates `profile` in addition to the active ones.
pub(crate) fn profile(profile: Profile) -> Remedy {
    add(profile.name(), "profile")
}

/// Allows `pkill` to kill the process `name`.
pub(crate) fn pkill_target(name: &str) -> Remedy {
    add(name, "allowPkillTargets")
}

/// Allows destructive commands; a sync never does.
pub(crate) fn destructive(policy: &Policy) -> Remedy {
    let is_run = policy.mode() == Mode::Run;
    is_run.then_some(Cow::Borrowed("run with --allow-destructive"))
}

/// Adds `name` to a list of the configuration; `None` if JSON would have to escape it.
fn add(name: &str, key: &str) -> Remedy {
    let is_plain = |it: char| !it.is_whitespace() && !it.is_control() && it != '"' && it != '\\';
    if name.is_empty() || !name.chars().all(is_plain) {
        return None;
    }
    Some(Cow::Owned(format!(
        "add \"{name}\" to \"{key}\" in .autonoe/agent.json"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{PolicyConfig, PolicyScope, TieredCommands};

    fn policy(mode: Mode, allow_commands: AllowCommands) -> Policy {
        let scope = PolicyScope {
            mode,
            ..PolicyScope::new("/srv/shop")
        };
        let config = PolicyConfig {
            allow_commands,
            ..PolicyConfig::default()
        };
        Policy::new(scope, config).expect("a policy")
    }

    #[test]
    fn a_command_is_added_to_the_list_of_its_mode() {
        let list = AllowCommands::default;
        let tiers = || AllowCommands::Tiered(TieredCommands::default());
        for (mode, allowed, name, expected) in [
            (
                Mode::Run,
                list(),
                "wget",
                Some(r#""wget" to "allowCommands""#),
            ),
            (
                Mode::Run,
                list(),
                "./x.sh",
                Some(r#""./x.sh" to "allowCommands""#),
            ),
            (
                Mode::Run,
                tiers(),
                "wget",
                Some(r#""wget" to "allowCommands.run""#),
            ),
            (
                Mode::Sync,
                list(),
                "wget",
                Some(r#""wget" to "allowCommands.sync""#),
            ),
            (
                Mode::Sync,
                tiers(),
                "wget",
                Some(r#""wget" to "allowCommands.sync""#),
            ),
            (Mode::Run, list(), "a b", None),
            (Mode::Run, list(), "a\"b", None),
            (Mode::Run, list(), "", None),
        ] {
            let expected =
                expected.map(|construct| format!("add {construct} in .autonoe/agent.json"));
            let remedy = command(&policy(mode, allowed), name);
            assert_eq!(remedy.as_deref(), expected.as_deref(), "{mode:?} {name}");
        }
    }

    #[test]
    fn a_profile_is_added_to_the_others() {
        assert_eq!(
            profile(Profile::Node).as_deref(),
            Some(r#"add "node" to "profile" in .autonoe/agent.json"#)
        );
    }
}
