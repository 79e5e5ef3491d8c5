//! The tools that every agent on a model has: files, searches and a shell.
//!
//! They are named and called as in Claude Code, so that core's gate knows what a call would
//! do before it is made. All files go through a [`Workspace`], which nothing leads out of;
//! Bash runs in a sandbox of the operating system.

mod bash;
mod blocking;
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
pub use built_in::{BuiltInTools, NetworkAccess, ToolPlan};
pub use edit::{Edit, EditInput};
pub use glob::{Glob, GlobInput};
pub use grep::{Grep, GrepInput, OutputMode};
pub(crate) use head_and_tail::HeadAndTail;
pub use limits::ToolLimits;
pub use options::{BuiltInOptions, BuiltInToolsError, built_in_tools};
pub use read::{Read, ReadInput};
pub use workspace::{Workspace, WorkspaceError};
pub use write::{Write, WriteInput};
