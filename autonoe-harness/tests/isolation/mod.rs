//! Worktrees, with a real git.

mod foreign;
mod isolating;
mod killed;
mod left;
mod leftovers;
mod merging;
mod removing;
mod setting;
