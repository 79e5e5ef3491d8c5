//! The task loop, through its public interface.

mod budgets;
mod conversations;
mod ends;
mod judged;
mod lives;
mod messages;
mod orders;
mod progress;
mod properties;
mod recovering;
mod served_again;
mod setting;
mod waiting;
mod worktrees;
