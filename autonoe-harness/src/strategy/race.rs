//! Race strategy: the first success wins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Fleet, Order, Strategy, stop_all};

/// Runs all members. The first that succeeds wins, and the others are stopped.
///
/// A failure does not win. The race ends when the other members have ended, so that nothing of them
/// is left running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Race {}

#[typetag::serde(name = "race")]
impl Strategy for Race {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let Some(first) = fleet.successes().next() else {
            let starts: Vec<_> = fleet.waiting().map(Order::start).collect();
            return if starts.is_empty() && !fleet.has_running_members() {
                vec![Order::Finish(Decision::failed())]
            } else {
                starts
            };
        };
        if fleet.has_running_members() {
            stop_all(fleet, &format!("{} finished first", first.id))
        } else {
            vec![Order::Finish(Decision::won_by(first))]
        }
    }

    fn picks_winner(&self) -> bool {
        true
    }
}

autonoe_core::register_spec!(Other("strategy"), Race, "race", {});
