//! Configuration file `.autonoe/agent.json`: parsing, merging and explaining.

mod agent_config;
mod config_error;
mod config_file;
mod effective;
mod explain;
mod field_values;
mod fields;
mod json_positions;
mod playwright;
mod servers;
mod settings;
mod strict;
mod suggest;

pub use agent_config::{
    AgentConfig, AllowCommandsConfig, EnvironmentConfig, Permissions, TieredCommandsConfig,
};
pub use config_error::{ConfigError, ConfigErrorKind};
pub use config_file::ConfigFile;
pub use effective::EffectiveConfig;
pub use explain::{ConfigLine, Source};
pub use field_values::read_spec;
pub use playwright::PLAYWRIGHT_MCP_TOOLS;
pub use settings::{NamedBackend, Profiles, SandboxSwitch, SwitchSource};
pub use strict::{below, inside, read_part, take_tag};
pub use suggest::{did_you_mean, suggest};
