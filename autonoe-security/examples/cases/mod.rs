//! Cases of the corpus: JSON objects with a command and the settings of its policy.

use std::error::Error;

use autonoe_security::{
    AllowCommands, Destructive, Mode, Policy, PolicyConfig, PolicyScope, Profile,
};
use serde_json::Value;

/// Returns the policy of a case. Without `project_dir`, the project directory is `/srv/project`.
pub(crate) fn policy(case: &Value) -> Result<Policy, Box<dyn Error>> {
    let names = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        let names = list.chain(value.is_string().then_some(value));
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let profile = |name: &String| {
        let mut all = Profile::ALL.into_iter();
        let found = all.find(|profile| profile.name() == name);
        found.ok_or_else(|| format!("there is no profile {name:?}"))
    };
    let profiles = match &case["profile"] {
        Value::Null => None,
        chosen => Some(
            names(chosen)
                .iter()
                .map(profile)
                .collect::<Result<_, _>>()?,
        ),
    };
    let scope = PolicyScope {
        mode: match case["mode"].as_str() {
            None | Some("run") => Mode::Run,
            Some("sync") => Mode::Sync,
            Some(mode) => return Err(format!("there is no mode {mode:?}").into()),
        },
        ..PolicyScope::new(case["project_dir"].as_str().unwrap_or("/srv/project"))
    };
    let config = PolicyConfig {
        profiles,
        allow_commands: AllowCommands::List(names(&case["allow_commands"]).into_iter().collect()),
        destructive: match case["allow_destructive"].as_bool() {
            Some(true) => Destructive::Allowed,
            _ => Destructive::Forbidden,
        },
        ..PolicyConfig::default()
    };
    Ok(Policy::new(scope, config)?)
}
