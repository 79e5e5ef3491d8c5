//! Isolation of agents in git worktrees, without ever losing work.

mod cleanup;
mod error;
mod git;
mod locked;
mod merge;
mod merge_queue;
mod owner;
mod programs;
mod project_folder;
mod stale_locks;
mod worktree;
mod worktrees;

pub use cleanup::{CleanupReport, RetainedWorktree};
pub use error::{IsolationError, WorkLocation};
pub use merge::MergeReport;
pub use worktree::Worktree;
pub use worktrees::{Author, Worktrees};

// For git sync, which moves projects between hosts.
#[doc(hidden)]
pub use git::{Git, Repository, failed, output_text, text};
#[doc(hidden)]
pub use merge_queue::acquire as take_turn;
#[doc(hidden)]
pub use worktree::{Conflicts, check_no_nested_repository};
#[doc(hidden)]
pub use worktrees::check_name;
