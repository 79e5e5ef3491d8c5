//! Isolation of agents in git worktrees, without ever losing work.

mod author;
mod base;
mod cleanup;
mod discard;
mod error;
mod git;
mod locked;
mod merge;
mod merge_queue;
mod name;
mod owner;
mod programs;
mod project_folder;
mod relocation;
mod remove;
mod repository;
mod stale_locks;
mod step;
mod worktree;
mod worktrees;

pub use author::Author;
pub use cleanup::{CleanupReport, KeptWorktree};
pub use error::{IsolationError, WorkLocation};
pub use merge::MergeReport;
pub use worktree::Worktree;
pub use worktrees::Worktrees;

pub(crate) use git::{Git, failed, output_text, text};
pub(crate) use merge_queue::acquire as take_turn;
pub(crate) use name::check as check_name;
pub(crate) use remove::check_no_nested_repository;
pub(crate) use repository::Repository;
