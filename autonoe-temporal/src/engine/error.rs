//! Conversion of Temporal errors into [`EngineError`]s and outcomes.

use autonoe_core::RunId;
use autonoe_core::engine::{EngineError, RunOutcome};
use autonoe_core::event::Failure;
use temporalio_client::errors::WorkflowGetResultError;

use crate::failure::unknown_spending;

/// Creates the error of a failed request to the server.
pub(crate) fn failed(
    doing: &str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> EngineError {
    EngineError::Failed {
        reason: format!("Temporal could not {doing}"),
        source: Some(error.into()),
    }
}

/// Returns the outcome of a run whose workflow returned none.
pub(super) fn without_outcome(
    run: &RunId,
    error: WorkflowGetResultError,
) -> Result<RunOutcome, EngineError> {
    let broke = |code: &str, reason: &str| {
        RunOutcome::failed(Failure::permanent(code, reason)).with_spent(unknown_spending())
    };
    match error {
        WorkflowGetResultError::NotFound(_) => Err(EngineError::Unknown(run.clone())),
        WorkflowGetResultError::Cancelled { details } => {
            // The server cancelled it before the workflow could return details.
            if details.raw().is_empty() {
                return Ok(RunOutcome::cancelled(""));
            }
            let outcome = details.deserialize::<RunOutcome>();
            outcome.map_err(|error| failed("read the outcome of the run", error))
        }
        WorkflowGetResultError::Terminated { .. } => Ok(broke(
            "terminated",
            "the workflow of the run was terminated, and its outcome is lost",
        )),
        WorkflowGetResultError::TimedOut => Ok(broke("timed_out", "the workflow timed out")),
        WorkflowGetResultError::Failed(error) => Ok(broke(
            "workflow_failed",
            &format!("the workflow failed: {error}"),
        )),
        error => Err(failed("wait for the run", error)),
    }
}
