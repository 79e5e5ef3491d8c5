//! Hooks that a configuration file can name.

mod deny_tool;

pub use deny_tool::DenyTool;
