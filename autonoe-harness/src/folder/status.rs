//! Status of a member: the record that its process writes, and the view for other processes.

use autonoe_core::agent::{BudgetUsage, CostTotal};
use autonoe_core::engine::{RunEnding, RunOutcome, RunProgress};
use autonoe_core::time::Epoch;
use autonoe_process::ProcessIdentity;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file::{read_versioned_json, replace_json};
use super::{FolderError, MemberFolder};
use crate::strategy::{MemberId, MemberReport};

/// Status of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemberStatus {
    /// The member has not started, or its process released it for later.
    Pending,
    /// The member works.
    Running,
    /// The member is paused until it is resumed.
    Paused,
    /// The member has completed its work.
    Completed,
    /// The work failed, or the process was lost.
    Failed,
    /// The member was stopped from outside.
    Stopped,
}

impl MemberStatus {
    /// Returns whether the status is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Stopped)
    }
}

/// Maps an outcome to a status.
pub(crate) fn status_of(outcome: &RunOutcome) -> MemberStatus {
    match outcome.ending {
        RunEnding::Succeeded => MemberStatus::Completed,
        RunEnding::Failed { .. } => MemberStatus::Failed,
        RunEnding::Cancelled { .. } => MemberStatus::Stopped,
    }
}

/// Status of a member, as recorded by its process in `status.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MemberStatusRecord {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// The ID of the member.
    pub id: MemberId,
    /// The status.
    pub status: MemberStatus,
    /// The progress of the run.
    #[serde(flatten)]
    pub progress: RunProgress,
    /// The number of processes that have served the member, including the writer of this record.
    pub epoch: Epoch,
    /// The process that serves the member; `None` once it has released the member in an orderly
    /// way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ServingProcess>,
    /// The time at which this was written.
    pub updated_at: Timestamp,
}

/// A process that serves a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServingProcess {
    /// The process ID.
    pub pid: u32,
    /// The start time, which distinguishes the process from a later one with the same ID.
    pub started: String,
}

/// The version of the format.
const VERSION: u32 = 1;

impl MemberStatusRecord {
    pub(crate) fn new(id: MemberId, epoch: Epoch, now: Timestamp) -> Self {
        Self {
            version: VERSION,
            id,
            status: MemberStatus::Running,
            progress: RunProgress::default(),
            epoch,
            process: ServingProcess::current(),
            updated_at: now,
        }
    }
}

impl ServingProcess {
    pub(crate) fn current() -> Option<Self> {
        ProcessIdentity::current().map(|own| Self {
            pid: own.pid(),
            started: own.started().to_owned(),
        })
    }

    /// Returns the identity of the process, to check whether it is alive.
    pub fn identity(&self) -> ProcessIdentity {
        ProcessIdentity::new(self.pid, self.started.clone())
    }
}

impl MemberFolder {
    /// Returns the last recorded status of the member; `None` before it was first served.
    ///
    /// # Errors
    ///
    /// It cannot be read or parsed, or has another version.
    pub fn state(&self) -> Result<Option<MemberStatusRecord>, FolderError> {
        let path = self.file("status.json");
        let state: Option<MemberStatusRecord> = read_versioned_json(&path, VERSION)?;
        match state {
            Some(state) if state.id != *self.id() => {
                let reason = format!("it belongs to the member {}", state.id);
                Err(FolderError::corrupt(&path, reason))
            }
            state => Ok(state),
        }
    }

    pub(crate) fn write_state(&self, state: &MemberStatusRecord) -> Result<(), FolderError> {
        replace_json(&self.file("status.json"), state)
    }
}

/// State of a member, as seen by other processes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemberView {
    /// The ID of the member.
    pub id: MemberId,
    /// The status.
    pub status: MemberStatus,
    /// The progress of the run.
    pub progress: RunProgress,
    /// The number of processes that have served the member.
    pub epoch: Epoch,
    /// The process ID of the live process that serves the member.
    pub pid: Option<u32>,
    /// The reason of a stop request, if the member has not ended.
    pub stopping: Option<String>,
    /// Whether the process died without an outcome; the member can be started again.
    pub is_lost: bool,
    /// The outcome of the run.
    pub outcome: Option<RunOutcome>,
    /// The error message.
    pub error: Option<String>,
}

impl MemberView {
    pub(crate) fn pending(id: MemberId) -> Self {
        Self {
            id,
            status: MemberStatus::Pending,
            progress: RunProgress::default(),
            epoch: Epoch::default(),
            pid: None,
            stopping: None,
            is_lost: false,
            outcome: None,
            error: None,
        }
    }

    /// Takes over the progress that the process recorded.
    fn with_progress(self, state: &MemberStatusRecord) -> Self {
        Self {
            progress: state.progress.clone(),
            epoch: state.epoch,
            ..self
        }
    }

    pub(crate) fn ended(mut self, outcome: RunOutcome) -> Self {
        self.status = status_of(&outcome);
        self.error = match &outcome.ending {
            RunEnding::Succeeded => None,
            RunEnding::Failed { failure } => Some(failure.message.clone()),
            RunEnding::Cancelled { reason } => Some(reason.clone()),
        };
        self.pid = None;
        self.stopping = None;
        self.is_lost = false;
        self.outcome = Some(outcome);
        self
    }

    /// Returns the known spending of a member whose process was lost: spending since its last
    /// report is unknown.
    pub(crate) fn spending_lower_bound(&self) -> BudgetUsage {
        if self.epoch > Epoch::default() {
            as_lower_bound(self.progress.spent)
        } else {
            self.progress.spent
        }
    }

    /// Returns the result of the member in a fleet, once it has ended.
    pub fn result(&self) -> Option<MemberReport> {
        let outcome = self.outcome.as_ref()?;
        Some(MemberReport::from_outcome(&self.id, outcome))
    }
}

/// Marks spending as a lower bound.
pub(crate) fn as_lower_bound(mut spent: BudgetUsage) -> BudgetUsage {
    spent.cost.merge(CostTotal::unknown());
    spent
}

impl MemberFolder {
    /// Returns whether the process of the last status is alive.
    fn has_live_process(&self) -> bool {
        let state = self.state().ok().flatten();
        let process = state.and_then(|state| state.process);
        process.is_some_and(|process| process.identity().is_alive())
    }

    /// Returns the current state of the member.
    ///
    /// # Errors
    ///
    /// There is no member, or one of its files cannot be read or parsed.
    pub fn view(&self) -> Result<MemberView, FolderError> {
        self.order()?;
        if !self.has_live_process()
            && let Err(error) = self.rebuild()
            && self.outcome()?.is_none()
        {
            return Err(error);
        }
        let view = MemberView::pending(self.id().clone());
        let outcome = self.outcome()?;
        let state = match (self.state(), &outcome) {
            (Ok(state), _) => state,
            // The outcome is final, even if other files are damaged.
            (Err(_), Some(_)) => None,
            (Err(error), None) => return Err(error),
        };
        let Some(state) = state else {
            return Ok(match outcome {
                Some(outcome) => view.ended(outcome),
                None => MemberView {
                    stopping: self.stop_requested()?,
                    ..view
                },
            });
        };
        let view = view.with_progress(&state);
        if let Some(outcome) = outcome {
            return Ok(view.ended(outcome));
        }
        let stopping = self.stop_requested()?;
        if let Some(process) = &state.process
            && process.identity().is_alive()
            && self.is_served()?
        {
            return Ok(MemberView {
                status: state.status,
                pid: Some(process.pid),
                stopping,
                ..view
            });
        }
        // The member may have ended, or its process released it, between the two reads.
        let state = self.state()?.unwrap_or(state);
        let view = view.with_progress(&state);
        Ok(match (self.outcome()?, state.process) {
            (Some(outcome), _) => view.ended(outcome),
            (None, None) => MemberView { stopping, ..view },
            (None, Some(process)) => MemberView {
                status: MemberStatus::Failed,
                stopping,
                is_lost: true,
                error: Some(format!(
                    "its process {} ended without an outcome",
                    process.pid
                )),
                ..view
            },
        })
    }
}
