//! The task loop, through its public interface.

mod budgets;
mod ends;
mod messages;
mod orders;
mod progress;
mod properties;
mod recovering;
mod setting;
mod worktrees;
