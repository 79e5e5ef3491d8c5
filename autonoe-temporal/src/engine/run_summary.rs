//! [`RunSummary`]: a run in a list.

use autonoe_core::RunId;
use autonoe_core::engine::RunPhase;
use jiff::Timestamp;
use serde::Serialize;
use temporalio_client::{WorkflowExecution, WorkflowExecutionStatus};

/// A run in a list, with facts that the server knows without a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunSummary {
    /// The run.
    pub id: RunId,
    /// Whether it has ended. A paused run counts as running.
    pub phase: RunPhase,
    /// Time of the submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_at: Option<Timestamp>,
    /// Time of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl RunSummary {
    pub(super) fn new(workflow: &WorkflowExecution) -> Self {
        let time = |time: Option<std::time::SystemTime>| Timestamp::try_from(time?).ok();
        let phase = match workflow.status() {
            WorkflowExecutionStatus::Running | WorkflowExecutionStatus::Paused => RunPhase::Running,
            _ => RunPhase::Ended,
        };
        Self {
            id: RunId::new(workflow.id()),
            phase,
            submitted_at: time(workflow.start_time()),
            ended_at: time(workflow.close_time()),
        }
    }
}
