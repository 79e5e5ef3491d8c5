//! How many agents work together: pure decisions about a fleet.

mod fleet;
mod graph;
mod parallel;
mod pipeline;
mod port;
mod race;
mod result;
mod voting;

pub use fleet::{Fleet, Member, MemberState};
pub use graph::Graph;
pub use parallel::Parallel;
pub use pipeline::Pipeline;
pub use port::{Decision, IntoStrategy, Order, STRATEGY_PORT, Strategy};
pub use race::Race;
pub use result::{AggregatedResult, HarnessId, HarnessResult};
pub use voting::{Voting, VotingCriterion};

/// Stops all that run.
fn stop_all(fleet: &Fleet, why: &str) -> Vec<Order> {
    fleet.running().map(|id| Order::stop(id, why)).collect()
}
