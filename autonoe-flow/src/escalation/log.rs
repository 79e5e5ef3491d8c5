//! Escalations in the log.

use async_trait::async_trait;

use super::{Notice, Notifier};
use crate::definition::Escalation;
use crate::error::FlowError;

/// Logs escalations by `tracing`, as warnings.
///
/// Why a step failed may repeat what an agent said. It is logged at the level `TRACE` alone;
/// the journal of the run has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogNotifier;

#[async_trait]
impl Notifier for LogNotifier {
    async fn notify(&self, escalation: &Escalation, notice: &Notice) -> Result<(), FlowError> {
        tracing::warn!(
            id = notice.id(),
            to = escalation.escalate_to,
            run = notice.run.as_str(),
            flow = notice.flow.as_str(),
            step = notice.step.as_str(),
            visit = notice.visit,
            iteration = notice.iteration,
            code = notice.failure.code,
            "a step failed for good and is escalated"
        );
        tracing::trace!(
            id = notice.id(),
            failure = notice.failure.message,
            "why the step failed"
        );
        Ok(())
    }
}
