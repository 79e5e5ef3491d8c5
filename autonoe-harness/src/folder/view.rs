//! How a sub-harness stands, seen from outside.

use autonoe_core::{CostTotal, Epoch, RunEnding, RunOutcome, RunProgress, Spent};

use super::{FolderError, HarnessFolder, HarnessState, HarnessStatus, status_of};
use crate::{HarnessId, HarnessResult};

/// How a sub-harness stands, seen from outside.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HarnessView {
    /// Who it is.
    pub id: HarnessId,
    /// What it does.
    pub status: HarnessStatus,
    /// How far it is.
    pub at: RunProgress,
    /// How many processes have served it.
    pub epoch: Epoch,
    /// The process that serves it, while it lives.
    pub pid: Option<u32>,
    /// Why it is to end, if it was asked to and has not.
    pub stopping: Option<String>,
    /// Whether its process died without an outcome; it can be started again.
    pub is_lost: bool,
    /// What it came to.
    pub outcome: Option<RunOutcome>,
    /// What went wrong.
    pub error: Option<String>,
}

impl HarnessView {
    pub(crate) fn pending(id: HarnessId) -> Self {
        Self {
            id,
            status: HarnessStatus::Pending,
            at: RunProgress::default(),
            epoch: Epoch::default(),
            pid: None,
            stopping: None,
            is_lost: false,
            outcome: None,
            error: None,
        }
    }

    /// Says how far it is, as its process has written it down.
    fn standing(self, state: &HarnessState) -> Self {
        Self {
            at: state.at.clone(),
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

    /// Returns what is known of what it spent, for one whose process was cut off: what that spent
    /// since it last told is unknown.
    pub(crate) fn spent_and_more(&self) -> Spent {
        match self.epoch > Epoch::default() {
            true => at_least(self.at.spent),
            false => self.at.spent,
        }
    }

    /// Returns what it came to as a member of a fleet. An output that is a [`HarnessResult`] is
    /// that one; any other becomes the text of one.
    pub fn result(&self) -> Option<HarnessResult> {
        let outcome = self.outcome.as_ref()?;
        let told = HarnessResult::deserialize_of(&self.id, &outcome.output);
        Some(
            told.filter(|told| told.success == outcome.is_success())
                .unwrap_or_else(|| {
                    let mut result = match (&self.error, outcome.is_success()) {
                        (_, true) => {
                            let output = match &outcome.output {
                                serde_json::Value::String(text) => text.clone(),
                                output => output.to_string(),
                            };
                            HarnessResult::success(self.id.clone(), output)
                        }
                        (error, false) => {
                            let error = error.clone().unwrap_or_default();
                            HarnessResult::failure(self.id.clone(), error)
                        }
                    };
                    result.cost = outcome.spent.cost;
                    result.tokens = outcome.spent.tokens;
                    result.duration = outcome.spent.time;
                    result
                }),
        )
    }
}

/// Says of what was spent that it may be more.
pub(crate) fn at_least(mut spent: Spent) -> Spent {
    spent.cost.merge(CostTotal::unknown());
    spent
}

impl HarnessResult {
    /// Reads the result of `id` out of the output of its run.
    fn deserialize_of(id: &HarnessId, output: &serde_json::Value) -> Option<Self> {
        let result: Self = serde_json::from_value(output.clone()).ok()?;
        (result.id == *id).then_some(result)
    }
}

impl HarnessFolder {
    /// Looks how the sub-harness stands.
    ///
    /// # Errors
    ///
    /// There is none, or a file of it cannot be read or understood.
    pub fn view(&self) -> Result<HarnessView, FolderError> {
        self.order()?;
        let view = HarnessView::pending(self.id().clone());
        let outcome = self.outcome()?;
        let state = match (self.state(), &outcome) {
            (Ok(state), _) => state,
            // What it came to stands, whatever became of the rest.
            (Err(_), Some(_)) => None,
            (Err(error), None) => return Err(error),
        };
        let Some(state) = state else {
            return Ok(match outcome {
                Some(outcome) => view.ended(outcome),
                None => HarnessView {
                    stopping: self.stop_requested()?,
                    ..view
                },
            });
        };
        let view = view.standing(&state);
        if let Some(outcome) = outcome {
            return Ok(view.ended(outcome));
        }
        let stopping = self.stop_requested()?;
        if let Some(process) = &state.process
            && process.identity().lives()
            && self.is_served()?
        {
            return Ok(HarnessView {
                status: state.status,
                pid: Some(process.pid),
                stopping,
                ..view
            });
        }
        // It may have ended, or let go, between the two looks.
        let state = self.state()?.unwrap_or(state);
        let view = view.standing(&state);
        Ok(match (self.outcome()?, state.process) {
            (Some(outcome), _) => view.ended(outcome),
            (None, None) => HarnessView { stopping, ..view },
            (None, Some(process)) => HarnessView {
                status: HarnessStatus::Failed,
                stopping,
                is_lost: true,
                error: Some(format!(
                    "its process {} is gone and left no outcome",
                    process.pid
                )),
                ..view
            },
        })
    }
}
