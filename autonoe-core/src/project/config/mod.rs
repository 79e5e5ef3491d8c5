//! Configuration file `.autonoe/agent.json`: parsing, merging and explaining.

mod agent_config;
mod config_error;
mod config_file;
mod effective;
mod example;
mod explain;
mod field_values;
mod fields;
mod guard_names;
mod hook_schema;
mod ignored_field;
mod json_part;
mod json_positions;
mod named_backend;
mod playwright;
mod profile;
mod sandbox_switch;
mod servers;
mod spec;
mod strict;
mod suggest;

pub use agent_config::{
    AgentConfig, AllowCommandsConfig, EnvironmentConfig, Permissions, TieredCommandsConfig,
};
pub use config_error::{ConfigError, ConfigErrorKind};
pub use config_file::ConfigFile;
pub use effective::EffectiveConfig;
pub use explain::{ConfigLine, Source};
pub use json_part::{below, inside, read_part, take_tag};
pub use named_backend::NamedBackend;
pub use playwright::PLAYWRIGHT_MCP_TOOLS;
pub use profile::Profiles;
pub use sandbox_switch::{SandboxSwitch, SwitchSource};
pub use spec::read_spec;
pub use suggest::{did_you_mean, suggest};
