//! Pipeline strategy: members run one after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Fleet, MemberReport, MemberState, Order, Strategy};

/// Runs members one after the other, each with the output of the previous one.
///
/// A member starts when the previous one has succeeded. The first failure ends the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {}

#[typetag::serde(name = "pipeline")]
impl Strategy for Pipeline {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let mut before: Option<&MemberReport> = None;
        for member in fleet.members() {
            match &member.state {
                MemberState::Ended { result, .. } if result.success => before = Some(result),
                MemberState::Ended { .. } => return finish(fleet, Decision::failed()),
                MemberState::Running | MemberState::Stopping => return Vec::new(),
                MemberState::Waiting => {
                    return vec![Order::Start {
                        member: member.id.clone(),
                        input: before.map(|result| result.output.clone()),
                    }];
                }
            }
        }
        finish(
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

/// Finishes once no member runs. Members that were started out of order are stopped.
fn finish(fleet: &Fleet, decision: Decision) -> Vec<Order> {
    if fleet.has_running_members() {
        super::stop_all(fleet, "an earlier stage has failed")
    } else {
        vec![Order::Finish(decision)]
    }
}
