//! A flow that broke off, up to where it was.

use autonoe_core::RecordedFlow;

use crate::error::{FlowError, FlowErrorKind};
use crate::machine::{FlowFact, FlowMachine};

/// Tells `machine` the facts of a flow that broke off; what was under way then is lost and comes again.
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
