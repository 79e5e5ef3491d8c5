//! What the server cannot do, in the words of the seam.

use autonoe_core::{CostTotal, EngineError, Failure, RunId, RunOutcome, Spent};
use temporalio_client::errors::{WorkflowGetResultError, WorkflowInteractionError};

/// Says that the server did not do what it was asked for.
pub(super) fn failed(
    doing: &str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> EngineError {
    EngineError::Failed {
        reason: format!("Temporal could not {doing}"),
        source: Some(error.into()),
    }
}

/// Says why a run could not be reached; one that the server does not know is unknown.
pub(super) fn unreached(run: &RunId, doing: &str, error: WorkflowInteractionError) -> EngineError {
    match error {
        WorkflowInteractionError::NotFound(_) => EngineError::Unknown(run.clone()),
        error => failed(doing, error),
    }
}

/// Says what a run came to that did not return an outcome.
pub(super) fn without_outcome(
    run: &RunId,
    error: WorkflowGetResultError,
) -> Result<RunOutcome, EngineError> {
    let broke = |code: &str, why: &str| {
        let spent = Spent {
            cost: CostTotal::unknown(),
            ..Spent::default()
        };
        RunOutcome::failed(Failure::permanent(code, why)).with_spent(spent)
    };
    match error {
        WorkflowGetResultError::NotFound(_) => Err(EngineError::Unknown(run.clone())),
        WorkflowGetResultError::Cancelled { details } => {
            // Cancelled by the server before it had anything to say.
            if details.raw().is_empty() {
                return Ok(RunOutcome::cancelled(""));
            }
            let outcome = details.deserialize::<RunOutcome>();
            outcome.map_err(|error| failed("read what the run came to", error))
        }
        WorkflowGetResultError::Terminated { .. } => Ok(broke(
            "terminated",
            "the workflow of the run was terminated, with all that it knew",
        )),
        WorkflowGetResultError::TimedOut => Ok(broke("timed_out", "the workflow timed out")),
        WorkflowGetResultError::Failed(error) => Ok(broke(
            "workflow_failed",
            &format!("the workflow failed: {error}"),
        )),
        error => Err(failed("wait for the run", error)),
    }
}
