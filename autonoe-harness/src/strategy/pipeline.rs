//! One after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Fleet, HarnessResult, MemberState, Order, Strategy};

/// Members work one after the other, each with the output of the one before it.
///
/// A member starts when the one before it has succeeded. At the first failure all is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {}

#[typetag::serde(name = "pipeline")]
impl Strategy for Pipeline {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let mut before: Option<&HarnessResult> = None;
        for member in fleet.members() {
            match &member.state {
                MemberState::Ended { result, .. } if result.success => before = Some(result),
                MemberState::Ended { .. } => return over(fleet, Decision::failed()),
                MemberState::Running | MemberState::Stopping => return Vec::new(),
                MemberState::Waiting => {
                    return vec![Order::Start {
                        member: member.id.clone(),
                        input: before.map(|result| result.output.clone()),
                    }];
                }
            }
        }
        over(
            fleet,
            Decision {
                success: before.is_some(),
                winner: None,
                output: before.map(|result| result.output.clone()),
            },
        )
    }
}

autonoe_core::register_spec!(Other("strategy"), Pipeline, "pipeline", {});

/// Finishes once nobody works; who was started out of order is stopped.
fn over(fleet: &Fleet, decision: Decision) -> Vec<Order> {
    match fleet.is_at_work() {
        true => super::stop_all(fleet, "a stage before it has failed"),
        false => vec![Order::Finish(decision)],
    }
}
