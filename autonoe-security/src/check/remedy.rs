//! Settings with which the operator can allow a denied command.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::policy::{AllowCommands, Mode, Policy, Profile, TieredCommands};

type Remedy = Option<Cow<'static, str>>;

/// Adds the command `name` in the mode of `policy`.
pub(crate) fn command(policy: &Policy, name: &str) -> Remedy {
    let mut tiers = match &policy.config().allow_commands {
        AllowCommands::List(list) if policy.mode() == Mode::Run => {
            return setting(
                "allowCommands",
                &array(list.iter().chain([&name.to_owned()]))?,
            );
        }
        AllowCommands::List(list) => TieredCommands {
            run: list.clone(),
            ..TieredCommands::default()
        },
        AllowCommands::Tiered(tiers) => tiers.clone(),
    };
    let tier = match policy.mode() {
        Mode::Run => &mut tiers.run,
        Mode::Sync => &mut tiers.sync,
    };
    tier.insert(name.to_owned());
    let TieredCommands { base, run, sync } = &tiers;
    let mut fields = Vec::new();
    for (key, names) in [("base", base), ("run", run), ("sync", sync)] {
        if !names.is_empty() {
            fields.push(format!("\"{key}\": {}", array(names)?));
        }
    }
    setting("allowCommands", &format!("{{{}}}", fields.join(", ")))
}

/// Activates `profile` beside the active ones.
pub(crate) fn profile(policy: &Policy, profile: Profile) -> Remedy {
    let is_wanted = |other: &Profile| *other == profile || policy.is_active(*other);
    let profiles = Profile::ALL.into_iter().filter(is_wanted);
    setting("profile", &array(profiles.map(Profile::name))?)
}

/// Lets `pkill` end the process `name`.
pub(crate) fn pkill_target(policy: &Policy, name: &str) -> Remedy {
    let mut targets: BTreeSet<&str> = BTreeSet::from([name]);
    let added = &policy.config().allow_pkill_targets;
    targets.extend(added.iter().map(String::as_str));
    setting("allowPkillTargets", &array(targets)?)
}

/// Allows destructive commands; a sync never does.
pub(crate) fn destructive(policy: &Policy) -> Remedy {
    let is_run = policy.mode() == Mode::Run;
    is_run.then_some(Cow::Borrowed("run with --allow-destructive"))
}

fn setting(key: &str, value: &str) -> Remedy {
    Some(Cow::Owned(format!(
        "set \"{key}\": {value} in .autonoe/agent.json"
    )))
}

/// Writes `names` as JSON; `None` if one of them would have to be escaped.
fn array<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Option<String> {
    let mut quoted = Vec::new();
    for name in names {
        let name = name.as_ref();
        let is_plain =
            |it: char| !it.is_whitespace() && !it.is_control() && it != '"' && it != '\\';
        if name.is_empty() || !name.chars().all(is_plain) {
            return None;
        }
        quoted.push(format!("\"{name}\""));
    }
    quoted.sort();
    quoted.dedup();
    Some(format!("[{}]", quoted.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyConfig;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn policy(mode: Mode, allow_commands: AllowCommands) -> Policy {
        Policy::new(PolicyConfig {
            mode,
            allow_commands,
            profiles: Some([Profile::Rust].into()),
            ..PolicyConfig::new("/srv/shop")
        })
        .expect("a policy")
    }

    #[test]
    fn a_command_is_added_to_what_the_file_has() {
        let list = |names: &[&str]| AllowCommands::List(set(names));
        let tiers = AllowCommands::Tiered(TieredCommands {
            base: set(&["jo"]),
            run: set(&["just"]),
            sync: set(&[]),
        });
        for (mode, allowed, name, expected) in [
            (Mode::Run, list(&[]), "curl", Some(r#"["curl"]"#)),
            (
                Mode::Run,
                list(&["just"]),
                "curl",
                Some(r#"["curl", "just"]"#),
            ),
            (Mode::Run, list(&[]), "./x.sh", Some(r#"["./x.sh"]"#)),
            (Mode::Sync, list(&[]), "curl", Some(r#"{"sync": ["curl"]}"#)),
            (
                Mode::Sync,
                list(&["just"]),
                "just",
                Some(r#"{"run": ["just"], "sync": ["just"]}"#),
            ),
            (
                Mode::Run,
                tiers,
                "curl",
                Some(r#"{"base": ["jo"], "run": ["curl", "just"]}"#),
            ),
            (Mode::Run, list(&[]), "a b", None),
            (Mode::Run, list(&[]), "a\"b", None),
        ] {
            let expected = expected
                .map(|value| format!("set \"allowCommands\": {value} in .autonoe/agent.json"));
            let remedy = command(&policy(mode, allowed), name);
            assert_eq!(remedy.as_deref(), expected.as_deref(), "{mode:?} {name}");
        }
    }

    #[test]
    fn a_profile_is_added_to_the_active_ones() {
        let policy = policy(Mode::Run, AllowCommands::default());

        assert_eq!(
            profile(&policy, Profile::Node).as_deref(),
            Some(r#"set "profile": ["node", "rust"] in .autonoe/agent.json"#)
        );
    }
}
