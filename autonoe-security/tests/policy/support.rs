//! Policies used by the tests.

use autonoe_security::{
    AllowCommands, BashSecurity, BashValidator, Destructive, Mode, Policy, PolicyConfig,
    PolicyScope, Profile, Verdict,
};
use serde_json::Value;

use crate::common::corpus;

pub(crate) const PROJECT: &str = "/srv/project";

/// A validator of a run in `PROJECT`.
pub(crate) fn validator(config: PolicyConfig) -> BashValidator {
    validator_in(Mode::Run, config)
}

pub(crate) fn validator_in(mode: Mode, config: PolicyConfig) -> BashValidator {
    let scope = PolicyScope {
        mode,
        ..PolicyScope::new(PROJECT)
    };
    BashValidator::new(Policy::new(scope, config).expect("a good policy"))
}

/// Judges by the default policy: run mode, all profiles.
pub(crate) fn run(command: &str) -> Verdict {
    validator(PolicyConfig::default()).check(command)
}

/// Judges in sync mode.
pub(crate) fn sync(command: &str) -> Verdict {
    validator_in(Mode::Sync, PolicyConfig::default()).check(command)
}

/// Judges with `rm` and `mv` allowed.
pub(crate) fn destructive(command: &str) -> Verdict {
    let config = PolicyConfig {
        destructive: Destructive::Allowed,
        ..PolicyConfig::default()
    };
    validator(config).check(command)
}

/// One case of the corpus.
pub(crate) struct Case {
    pub(crate) id: String,
    mode: Mode,
    config: PolicyConfig,
    pub(crate) command: String,
    pub(crate) allowed: bool,
    pub(crate) rules: Vec<String>,
    pub(crate) spec: Vec<String>,
}

impl Case {
    pub(crate) fn validator(&self) -> BashValidator {
        validator_in(self.mode, self.config.clone())
    }
}

/// Returns every case of the corpus.
pub(crate) fn corpus() -> Vec<Case> {
    corpus::cases().iter().map(case).collect()
}

fn case(value: &Value) -> Case {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        let all = list.chain(value.is_string().then_some(value));
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let profile = |name: &String| {
        let mut all = Profile::ALL.into_iter();
        all.find(|profile| profile.name() == name)
            .expect("a profile")
    };
    let mode = match value["mode"].as_str() {
        Some("sync") => Mode::Sync,
        _ => Mode::Run,
    };
    let config = PolicyConfig {
        profiles: match &value["profile"] {
            Value::Null => None,
            chosen => Some(texts(chosen).iter().map(profile).collect()),
        },
        destructive: match value["allow_destructive"].as_bool() {
            Some(true) => Destructive::Allowed,
            _ => Destructive::Forbidden,
        },
        allow_commands: AllowCommands::List(texts(&value["allow_commands"]).into_iter().collect()),
        ..PolicyConfig::default()
    };
    let text = |key: &str| value[key].as_str().expect("a text").to_owned();
    Case {
        id: text("id"),
        mode,
        config,
        command: corpus::command(value),
        allowed: text("expect") == "allow",
        rules: texts(&value["rules"]),
        spec: texts(&value["spec"]),
    }
}
