//! Tests of the task loop, through its public interface.

mod budgets;
mod conversations;
mod crashing_process;
mod ends;
mod fixture;
mod judge_costs;
mod messages;
mod orders;
mod progress;
mod properties;
mod recovery;
mod resume;
mod waits;
mod worktrees;
