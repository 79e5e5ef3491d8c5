//! Tests of worktrees, with a real git.

mod abandoned;
mod create;
mod fixture;
mod hostile;
mod killed;
mod merge;
mod remove;
