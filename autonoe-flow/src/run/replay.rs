//! Replays the journal of an interrupted flow.

use autonoe_core::RecordedFlow;

use crate::error::{FlowError, FlowErrorKind};
use crate::machine::{FlowFact, FlowMachine};

/// Applies the recorded facts of an interrupted flow to `machine`. What was under way is lost, and
/// starts again.
pub(super) fn replay(machine: &mut FlowMachine, recorded: &RecordedFlow) -> Result<(), FlowError> {
    for (index, fact) in recorded.facts.iter().enumerate() {
        let fact: FlowFact = serde_json::from_value(fact.clone()).map_err(|error| {
            let message = format!(
                "the journal of the flow cannot be understood at its fact {}",
                index + 1
            );
            FlowError::new(FlowErrorKind::Record, message).because(error)
        })?;
        let _ = machine.apply(fact);
    }
    Ok(())
}
