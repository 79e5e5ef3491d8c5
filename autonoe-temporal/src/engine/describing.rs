//! What the server itself knows of a run, without asking a worker.

use autonoe_core::{RunPhase, RunProgress};
use temporalio_client::{WorkflowExecutionDescription, WorkflowExecutionStatus};
use temporalio_common::WorkflowDefinition;
use temporalio_common::protos::temporal::api::workflow::v1::PendingActivityInfo;

use crate::failure::reason;
use crate::job::JobWorkflow;
use crate::sessions::SessionActivities;
use crate::wire::{Beat, Look};

/// The number that the server gives an activity that is under way.
const STARTED: i32 = 2;

/// What the server knows of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) has_ended: bool,
    pub(super) is_stopping: bool,
    pub(super) has_begun: bool,
    /// Whether all that is known of how far it is is what workers say of what is under way.
    pub(super) is_one_job: bool,
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
            is_one_job: description.workflow_type() == JobWorkflow::run.name(),
            at: beats.map(|beat| beat.at).next_back(),
            trouble: trouble(activities),
        }
    }

    /// Returns how far a run is, given what its workflow says, which says nothing while no worker
    /// looks after it. `None` if that is not known: nothing is not the same.
    pub(super) fn at_with(self, look: Option<Look>) -> Option<RunProgress> {
        let answers = look.is_some();
        match (look.and_then(|look| look.at), self.at) {
            (Some(mut at), Some(beat)) => {
                // A session tells of the ledger; what was spent before it only the workflow knows.
                at.progress = beat.progress;
                Some(at)
            }
            (Some(at), None) => Some(at),
            (None, beat) if self.is_one_job => {
                // One that has not begun, or has not said anything yet, is at its beginning.
                let is_at_its_beginning = answers || !self.has_begun;
                beat.or_else(|| is_at_its_beginning.then(RunProgress::default))
            }
            (None, _) => None,
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

/// Returns why what is tried again failed the last time.
fn trouble(activities: &[PendingActivityInfo]) -> Option<String> {
    let waiting = activities.iter().filter(|activity| {
        // What is under way may be all right now, and that the end is not written down yet is no
        // trouble of the run.
        activity.state != STARTED && !is_end(activity)
    });
    let mut failures = waiting.filter_map(|activity| activity.last_failure.as_ref());
    failures.next().map(reason)
}

/// Tells whether an activity writes down the end of a run.
fn is_end(activity: &PendingActivityInfo) -> bool {
    let kind = activity.activity_type.as_ref();
    kind.is_some_and(|kind| kind.name == SessionActivities::conclude.name())
}

#[cfg(test)]
mod tests {
    use temporalio_common::protos::temporal::api::common::v1::ActivityType;
    use temporalio_common::protos::temporal::api::failure::v1::Failure;

    use super::*;

    /// The number that the server gives an activity that waits to be tried again.
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
    fn only_what_keeps_a_run_from_coming_on_is_trouble() {
        let (claim, end) = ("autonoe-claim", "autonoe-conclude");
        for (activities, told) in [
            (vec![], None),
            (vec![failed(claim, WAITING)], Some("autonoe-claim failed")),
            (vec![failed(claim, STARTED)], None),
            (vec![failed(end, WAITING)], None),
        ] {
            assert_eq!(trouble(&activities).as_deref(), told, "{activities:?}");
        }
    }

    fn known(is_one_job: bool, has_begun: bool, beat: Option<f64>) -> Known {
        Known {
            has_ended: false,
            is_stopping: false,
            has_begun,
            is_one_job,
            at: beat.map(RunProgress::of),
            trouble: None,
        }
    }

    #[test]
    fn how_far_a_run_is_is_told_by_who_knows_it_or_by_nobody() {
        let silent = || Some(Look::default());
        let says = || {
            let mut at = RunProgress::of(0.25);
            at.iteration = 3;
            Some(Look {
                at: Some(at),
                ..Look::default()
            })
        };
        let (one_job, sessions, begun, not_begun) = (true, false, true, false);
        // What is known, what the workflow says, and what is told: how far it is and the session.
        for (known, look, told) in [
            (known(one_job, not_begun, None), None, Some((0.0, 0))),
            (known(one_job, begun, None), None, None),
            (known(one_job, begun, None), silent(), Some((0.0, 0))),
            (known(one_job, begun, Some(0.5)), None, Some((0.5, 0))),
            (known(one_job, begun, Some(0.5)), silent(), Some((0.5, 0))),
            (known(sessions, not_begun, None), None, None),
            (known(sessions, begun, Some(0.5)), None, None),
            (known(sessions, not_begun, None), says(), Some((0.25, 3))),
            (known(sessions, begun, Some(0.5)), says(), Some((0.5, 3))),
        ] {
            let words = format!("{known:?}, {look:?}");

            let at = known.at_with(look);

            let at = at.map(|at| (at.progress, at.iteration));
            assert_eq!(at, told, "{words}");
        }
    }
}
