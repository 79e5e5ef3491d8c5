//! Worktrees, with a real git.

mod foreign;
mod isolating;
mod killed;
mod merging;
mod removing;
mod setting;
