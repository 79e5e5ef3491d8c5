//! Strategies of fleets: pure decisions about which members start, stop and win.

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
pub use port::{Dependencies, IntoStrategy, Order, STRATEGY_PORT, Strategy};
pub use race::Race;
pub(crate) use result::spent_by;
pub use result::{Decision, MemberId, MemberReport};
pub use voting::{Voting, VotingCriterion};

/// Stops all running members.
fn stop_all(fleet: &Fleet, reason: &str) -> Vec<Order> {
    fleet.running().map(|id| Order::stop(id, reason)).collect()
}
