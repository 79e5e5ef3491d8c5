//! Helpers of the configuration tests.

use std::path::Path;

use autonoe_core::Mode;
use autonoe_core::project::{AgentConfig, ConfigError, EffectiveConfig, SandboxSwitch};

pub(crate) const FILE: &str = ".autonoe/agent.json";

pub(crate) fn parse(text: &str) -> Result<AgentConfig, ConfigError> {
    AgentConfig::parse(text, Path::new(FILE))
}

/// Merges the configuration `text` for `mode`, with the default sandbox setting.
pub(crate) fn merged(text: &str, mode: Mode) -> EffectiveConfig {
    let config = parse(text).expect("a valid configuration");
    EffectiveConfig::merge(Some(config), mode, SandboxSwitch::default()).expect("it was checked")
}

/// Returns the configuration of a run without a file.
pub(crate) fn bare(mode: Mode) -> EffectiveConfig {
    EffectiveConfig::merge(None, mode, SandboxSwitch::default()).expect("nothing to be wrong")
}

pub(crate) fn rules(config: &EffectiveConfig) -> Vec<String> {
    config.grants().rules().map(ToString::to_string).collect()
}

/// Returns the message of the error in `text`.
pub(crate) fn error(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("this is a valid configuration: {text}"),
        Err(error) => error.to_string(),
    }
}
