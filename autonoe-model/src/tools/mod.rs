//! Built-in tools of agents on a model: files, searches and a shell.
//!
//! Names and inputs are those of Claude Code, so that the gate of autonoe-core can judge a call
//! before it runs. All file access goes through a workspace, which no path can escape. Bash runs in
//! a sandbox of the operating system.

mod bash;
mod built_in;
mod config;
mod edit;
mod file_tool;
mod glob;
mod grep;
mod head_and_tail;
mod read;
mod search;
mod workspace;
mod write;

pub use built_in::{BuiltInOptions, BuiltInToolsError, built_in_tools};
pub use config::{NetworkAccess, ToolLimits, ToolsConfig};
pub(crate) use head_and_tail::HeadAndTail;
pub use workspace::WorkspaceError;
