//! The first success wins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Fleet, Order, Strategy, stop_all};

/// All members work, and the first that succeeds wins; the others are stopped.
///
/// A failure wins nothing. It is over when the others have ended, so that nothing of them is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Race {}

#[typetag::serde(name = "race")]
impl Strategy for Race {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let Some(first) = fleet.successes().next() else {
            let starts: Vec<_> = fleet.waiting().map(Order::start).collect();
            return match starts.is_empty() && !fleet.is_at_work() {
                true => vec![Order::Finish(Decision::failed())],
                false => starts,
            };
        };
        match fleet.is_at_work() {
            true => stop_all(fleet, &format!("{} was first", first.id)),
            false => vec![Order::Finish(Decision::won_by(first))],
        }
    }
}

autonoe_core::register_spec!(Other("strategy"), Race, "race", {});
