//! Worktrees, with a real git.

mod isolating;
mod killed;
mod merging;
mod removing;
mod setting;
