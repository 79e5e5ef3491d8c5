//! All at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Fleet, HarnessResult, Order, Strategy};

/// All members work, and all are waited for; it succeeds if all of them do.
///
/// What they say is put together in the order of the members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parallel {}

#[typetag::serde(name = "parallel")]
impl Strategy for Parallel {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let starts: Vec<_> = fleet.waiting().map(Order::start).collect();
        if !starts.is_empty() || fleet.is_at_work() {
            return starts;
        }
        let mut results = fleet.results().peekable();
        let success = results.peek().is_some() && fleet.results().all(|result| result.success);
        vec![Order::Finish(Decision {
            success,
            winner: None,
            output: Some(together(results)),
        })]
    }
}

autonoe_core::register_spec!(Other("strategy"), Parallel, "parallel", {});

/// Puts outputs one below the other, each with the name of who said it.
pub(super) fn together<'a>(results: impl Iterator<Item = &'a HarnessResult>) -> String {
    let parts: Vec<_> = results
        .map(|result| format!("## {}\n\n{}", result.id, result.output))
        .collect();
    parts.join("\n\n")
}
