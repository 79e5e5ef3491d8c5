//! Built-in tools of agents on a model: files, searches and a shell.
//!
//! Names and inputs are those of Claude Code, so that the gate of autonoe-core can judge a call
//! before it runs. All file access goes through a [`ToolWorkspace`], which no path can escape. Bash
//! runs in a sandbox of the operating system.

mod bash;
mod built_in;
mod edit;
mod failure;
mod glob;
mod grep;
mod head_and_tail;
mod limits;
mod options;
mod read;
mod replace;
mod search;
mod workspace;
mod write;

pub use bash::{Bash, BashInput};
pub use built_in::{BuiltInTools, NetworkAccess, ToolsConfig};
pub use edit::{Edit, EditInput};
pub use glob::{Glob, GlobInput};
pub use grep::{Grep, GrepInput, OutputMode};
pub(crate) use head_and_tail::HeadAndTail;
pub use limits::ToolLimits;
pub use options::{BuiltInOptions, BuiltInToolsError, built_in_tools};
pub use read::{Read, ReadInput};
pub use workspace::{ToolWorkspace, WorkspaceError};
pub use write::{Write, WriteInput};
