//! Facts about a run that the server knows without a worker.

use autonoe_core::engine::{RunPhase, RunProgress};
use temporalio_client::{WorkflowExecutionDescription, WorkflowExecutionStatus};
use temporalio_common::WorkflowDefinition;
use temporalio_common::protos::temporal::api::workflow::v1::PendingActivityInfo;

use crate::failure::reason;
use crate::job::JobWorkflow;
use crate::sessions::SessionActivities;
use crate::wire::{Heartbeat, WorkflowState};

/// State code of the server for an activity in progress.
const STARTED: i32 = 2;

/// Facts about a run that the server knows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ServerView {
    pub(super) has_ended: bool,
    pub(super) is_stopping: bool,
    pub(super) has_started: bool,
    /// Whether all progress of the run comes from heartbeats of the activity in progress.
    pub(super) is_one_job: bool,
    /// The last heartbeat of the activity in progress.
    pub(super) at: Option<RunProgress>,
    /// The last failure of an activity that is retried.
    pub(super) last_error: Option<String>,
}

impl ServerView {
    pub(super) fn from_description(description: &WorkflowExecutionDescription) -> Self {
        let raw = description.raw();
        let extended = raw.workflow_extended_info.as_ref();
        let activities = &raw.pending_activities;
        let beats = activities.iter().filter_map(|activity| {
            let details = activity.heartbeat_details.as_ref()?.payloads.first()?;
            serde_json::from_slice::<Heartbeat>(&details.data).ok()
        });
        let has_started = |state: i32, attempt: i32| state == STARTED || attempt > 1;
        Self {
            has_ended: has_ended(description.status()),
            is_stopping: extended.is_some_and(|info| info.cancel_requested),
            // The activities of a fleet are its members.
            has_started: !raw.pending_children.is_empty()
                || activities
                    .iter()
                    .any(|activity| has_started(activity.state, activity.attempt)),
            is_one_job: description.workflow_type() == JobWorkflow::run.name(),
            at: beats.map(|beat| beat.at).next_back(),
            last_error: last_error(activities),
        }
    }

    /// Returns the progress of a run, given the answer of its workflow, which is missing while no
    /// worker handles the workflow. `None` means that the progress is unknown, which differs from
    /// no progress.
    pub(super) fn at_with(self, state: Option<WorkflowState>) -> Option<RunProgress> {
        let has_answer = state.is_some();
        match (state.and_then(|state| state.at), self.at) {
            (Some(mut at), Some(beat)) => {
                // A session reports the progress of the ledger. Only the workflow knows earlier
                // expenses.
                at.progress = beat.progress;
                Some(at)
            }
            (Some(at), None) => Some(at),
            (None, beat) if self.is_one_job => {
                // A run that has not started, or has not reported yet, has no progress.
                let has_no_progress = has_answer || !self.has_started;
                beat.or_else(|| has_no_progress.then(RunProgress::default))
            }
            (None, _) => None,
        }
    }

    /// Returns the phase of a run that has not ended.
    pub(super) fn phase(&self, is_paused: bool) -> RunPhase {
        match self {
            Self {
                is_stopping: true, ..
            } => RunPhase::Stopping,
            _ if is_paused => RunPhase::Paused,
            Self {
                has_started: true, ..
            } => RunPhase::Running,
            _ => RunPhase::Waiting,
        }
    }
}

/// Returns whether a workflow has ended. The server calls a workflow that an administrator holds
/// paused.
pub(super) fn has_ended(status: WorkflowExecutionStatus) -> bool {
    !matches!(
        status,
        WorkflowExecutionStatus::Running | WorkflowExecutionStatus::Paused
    )
}

/// Returns the last failure of an activity that is retried.
fn last_error(activities: &[PendingActivityInfo]) -> Option<String> {
    let waiting = activities.iter().filter(|activity| {
        // An activity in progress may succeed now. A pending record of the end is not a problem of
        // the run.
        activity.state != STARTED && !is_end(activity)
    });
    let mut failures = waiting.filter_map(|activity| activity.last_failure.as_ref());
    failures.next().map(reason)
}

/// Returns whether an activity records the end of a run.
fn is_end(activity: &PendingActivityInfo) -> bool {
    let kind = activity.activity_type.as_ref();
    kind.is_some_and(|kind| kind.name == SessionActivities::conclude.name())
}

#[cfg(test)]
mod tests {
    use temporalio_common::protos::temporal::api::common::v1::ActivityType;
    use temporalio_common::protos::temporal::api::failure::v1::Failure;

    use super::*;

    /// State code of the server for an activity that waits for a retry.
    const WAITING: i32 = 1;

    fn failed(kind: &str, state: i32) -> PendingActivityInfo {
        PendingActivityInfo {
            activity_type: Some(ActivityType {
                name: kind.to_owned(),
            }),
            state,
            last_failure: Some(Failure {
                message: format!("{kind} failed"),
                ..Failure::default()
            }),
            ..PendingActivityInfo::default()
        }
    }

    #[test]
    fn only_a_failure_that_stops_the_run_is_its_last_error() {
        let (claim, end) = ("autonoe-claim", "autonoe-conclude");
        for (activities, expected) in [
            (vec![], None),
            (vec![failed(claim, WAITING)], Some("autonoe-claim failed")),
            (vec![failed(claim, STARTED)], None),
            (vec![failed(end, WAITING)], None),
        ] {
            assert_eq!(
                last_error(&activities).as_deref(),
                expected,
                "{activities:?}"
            );
        }
    }

    fn known(is_one_job: bool, has_started: bool, heartbeat: Option<f64>) -> ServerView {
        ServerView {
            has_ended: false,
            is_stopping: false,
            has_started,
            is_one_job,
            at: heartbeat.map(RunProgress::new),
            last_error: None,
        }
    }

    #[test]
    fn the_progress_of_a_run_is_reported_only_where_it_is_known() {
        let silent = || Some(WorkflowState::default());
        let answering = || {
            let mut at = RunProgress::new(0.25);
            at.iteration = 3;
            Some(WorkflowState {
                at: Some(at),
                ..WorkflowState::default()
            })
        };
        let (one_job, sessions, started, not_started) = (true, false, true, false);
        // What is known, the answer of the workflow, and the expected progress and session.
        for (known, state, expected) in [
            (known(one_job, not_started, None), None, Some((0.0, 0))),
            (known(one_job, started, None), None, None),
            (known(one_job, started, None), silent(), Some((0.0, 0))),
            (known(one_job, started, Some(0.5)), None, Some((0.5, 0))),
            (known(one_job, started, Some(0.5)), silent(), Some((0.5, 0))),
            (known(sessions, not_started, None), None, None),
            (known(sessions, started, Some(0.5)), None, None),
            (
                known(sessions, not_started, None),
                answering(),
                Some((0.25, 3)),
            ),
            (
                known(sessions, started, Some(0.5)),
                answering(),
                Some((0.5, 3)),
            ),
        ] {
            let case = format!("{known:?}, {state:?}");

            let at = known.at_with(state);

            let at = at.map(|at| (at.progress, at.iteration));
            assert_eq!(at, expected, "{case}");
        }
    }
}
