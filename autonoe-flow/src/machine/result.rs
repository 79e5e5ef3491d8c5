//! What a flow comes to.

use std::collections::BTreeMap;
use std::time::Duration;

use autonoe_core::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Expense, FlowAction, FlowEnd, FlowMachine, IterationSummary, StepRecord};
use crate::definition::{FlowName, StepId};

/// What a flow came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FlowResult {
    /// The run.
    pub run: RunId,
    /// The flow.
    pub flow: FlowName,
    /// How it ended.
    #[serde(flatten)]
    pub end: FlowEnd,
    /// What is kept of each iteration.
    pub summaries: Vec<IterationSummary>,
    /// What is known of the steps that were visited.
    pub steps: BTreeMap<StepId, StepRecord>,
    /// How many checks were made.
    pub checks: u64,
    /// What each condition of a composite found last, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, bool>,
    /// What it took.
    pub spent: Expense,
    /// How long it took.
    #[serde(rename = "elapsedMs", with = "millis")]
    pub elapsed: Duration,
}

impl FlowResult {
    /// Returns how many iterations there were.
    pub fn iterations(&self) -> u64 {
        self.summaries.len() as u64
    }

    /// Tells whether the flow is complete.
    pub fn is_success(&self) -> bool {
        self.end.is_success()
    }
}

impl FlowMachine {
    /// Returns what the flow comes to when it ends at `at`; `None` while it goes on.
    pub fn result(&self, run: &RunId, at: Timestamp) -> Option<FlowResult> {
        match self.action() {
            FlowAction::Finish(end) => Some(self.ended(run, end, at)),
            _ => None,
        }
    }

    /// Returns what the flow comes to with this end.
    pub(crate) fn ended(&self, run: &RunId, end: FlowEnd, at: Timestamp) -> FlowResult {
        FlowResult {
            run: run.clone(),
            flow: self.flow.clone(),
            end,
            summaries: self.context.summaries().to_vec(),
            steps: self.steps.clone(),
            checks: self.progress.checks,
            states: self.states.clone(),
            spent: self.spent,
            elapsed: self.elapsed(at),
        }
    }
}

/// A duration is written in milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
