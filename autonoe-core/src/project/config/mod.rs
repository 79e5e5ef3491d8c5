//! The configuration file `.autonoe/agent.json`.

mod added_names;
mod agent_config;
mod apply;
mod check;
mod config_error;
mod config_file;
mod cursor;
mod document;
mod effective;
mod expected;
mod explain;
mod guard_names;
mod hook_schema;
mod json_tree;
mod named_backend;
mod playwright;
mod profile;
mod sandbox_switch;
mod suggest;

pub use agent_config::{
    AgentConfig, AllowCommandsConfig, EnvironmentConfig, Permissions, TieredCommandsConfig,
};
pub use config_error::{ConfigError, ConfigErrorKind};
pub use config_file::ConfigFile;
pub use effective::EffectiveConfig;
pub use explain::{ConfigLine, Source};
pub use named_backend::NamedBackend;
pub use playwright::PLAYWRIGHT_MCP_TOOLS;
pub use profile::Profiles;
pub use sandbox_switch::{SandboxSwitch, SwitchSource};
