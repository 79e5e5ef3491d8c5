//! Parallel strategy: all members run at once.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Dependencies, Fleet, MemberReport, Order, Strategy};

/// Runs all members and waits for all of them. It succeeds if all members do.
///
/// The outputs are joined in the order of the members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parallel {}

#[typetag::serde(name = "parallel")]
impl Strategy for Parallel {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let starts: Vec<_> = fleet.waiting().map(Order::start).collect();
        if !starts.is_empty() || fleet.has_running_members() {
            return starts;
        }
        let mut results = fleet.results().peekable();
        let success = results.peek().is_some() && fleet.results().all(|result| result.success);
        vec![Order::Finish(Decision {
            success,
            winner: None,
            output: Some(join_outputs(results)),
        })]
    }

    fn with_dependencies(&self, after: &Dependencies) -> Result<Option<Arc<dyn Strategy>>, String> {
        if after.is_empty() {
            Ok(None)
        } else {
            Err("so they cannot all run at once".to_owned())
        }
    }
}

autonoe_core::register_spec!(Other("strategy"), Parallel, "parallel", {});

/// Joins outputs, each below the name of its member.
pub(super) fn join_outputs<'a>(results: impl Iterator<Item = &'a MemberReport>) -> String {
    let parts: Vec<_> = results
        .map(|result| format!("## {}\n\n{}", result.id, result.output))
        .collect();
    parts.join("\n\n")
}
