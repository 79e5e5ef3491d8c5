//! A git worktree for each agent, and work that is never lost.

mod author;
mod base;
mod discard;
mod error;
mod git;
mod leftover;
mod locked;
mod merge;
mod moved;
mod name;
mod owner;
mod programs;
mod project_folder;
mod remove;
mod repository;
mod step;
mod sweep;
mod turn;
mod worktree;
mod worktrees;

pub use author::Author;
pub use error::{IsolationError, WorkPlace};
pub use merge::Merged;
pub use sweep::{KeptWorktree, Swept};
pub use worktree::Worktree;
pub use worktrees::Worktrees;

pub(crate) use git::{Git, failed, text, words};
pub(crate) use name::check as check_name;
pub(crate) use remove::no_repository_inside;
pub(crate) use repository::Repository;
pub(crate) use turn::take as take_turn;
