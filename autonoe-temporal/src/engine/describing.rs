//! What the server itself knows of a run, without asking a worker.

use autonoe_core::{RunPhase, RunProgress};
use temporalio_client::{WorkflowExecutionDescription, WorkflowExecutionStatus};

use crate::failure::reason;
use crate::wire::Beat;

/// The number that the server gives an activity that is under way.
const STARTED: i32 = 2;

/// What the server knows of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) has_ended: bool,
    pub(super) is_stopping: bool,
    pub(super) has_begun: bool,
    /// The last thing that a worker said of what is under way.
    pub(super) at: Option<RunProgress>,
    /// Why what is tried again failed the last time.
    pub(super) trouble: Option<String>,
}

impl Known {
    pub(super) fn of(description: &WorkflowExecutionDescription) -> Self {
        let raw = description.raw();
        let extended = raw.workflow_extended_info.as_ref();
        let activities = &raw.pending_activities;
        let beats = activities.iter().filter_map(|activity| {
            let said = activity.heartbeat_details.as_ref()?.payloads.first()?;
            serde_json::from_slice::<Beat>(&said.data).ok()
        });
        let has_begun = |state: i32, attempt: i32| state == STARTED || attempt > 1;
        Self {
            has_ended: !matches!(
                description.status(),
                WorkflowExecutionStatus::Running | WorkflowExecutionStatus::Paused
            ),
            is_stopping: extended.is_some_and(|info| info.cancel_requested),
            // What a fleet has under way are its members.
            has_begun: !raw.pending_children.is_empty()
                || activities
                    .iter()
                    .any(|activity| has_begun(activity.state, activity.attempt)),
            at: beats.map(|beat| beat.at).next_back(),
            trouble: activities
                .iter()
                // What is under way may be all right now.
                .filter(|activity| activity.state != STARTED)
                .find_map(|activity| activity.last_failure.as_ref())
                .map(reason),
        }
    }

    /// Returns how far a run is, given what its workflow knows.
    pub(super) fn at_with(self, workflow: Option<RunProgress>) -> RunProgress {
        match (workflow, self.at) {
            (Some(mut at), Some(beat)) => {
                // A session tells of the ledger; what was spent before it only the workflow knows.
                at.progress = beat.progress;
                at
            }
            (workflow, beat) => workflow.or(beat).unwrap_or_default(),
        }
    }

    /// Returns what a run does that has not ended.
    pub(super) fn phase(&self, is_paused: bool) -> RunPhase {
        match self {
            Self {
                is_stopping: true, ..
            } => RunPhase::Stopping,
            _ if is_paused => RunPhase::Paused,
            Self {
                has_begun: true, ..
            } => RunPhase::Running,
            _ => RunPhase::Waiting,
        }
    }
}
