//! [`FlowResult`]: the result of a flow.

use std::collections::BTreeMap;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::time::millis;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Expense, FlowAction, FlowEnd, FlowMachine, IterationSummary, StepRecord};
use crate::definition::{FlowName, StepId};

/// The result of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FlowResult {
    /// The run.
    pub run: RunId,
    /// The flow.
    pub flow: FlowName,
    /// Its outcome.
    #[serde(flatten)]
    pub end: FlowEnd,
    /// The summaries of the iterations.
    pub summaries: Vec<IterationSummary>,
    /// The records of the visited steps.
    pub steps: BTreeMap<StepId, StepRecord>,
    /// The number of checks.
    pub checks: u64,
    /// The last result of each condition of a composite, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, bool>,
    /// Cost and tokens.
    pub spent: Expense,
    /// The elapsed time.
    #[serde(rename = "elapsedMs", with = "millis")]
    pub elapsed: Duration,
}

impl FlowResult {
    /// Returns the number of iterations.
    pub fn iterations(&self) -> u64 {
        self.summaries.len() as u64
    }

    /// Returns whether the flow is complete.
    pub fn is_success(&self) -> bool {
        self.end.is_success()
    }
}

impl FlowMachine {
    /// Returns the result of the flow if it ends at `at`; `None` while it is running.
    pub fn result(&self, run: &RunId, at: Timestamp) -> Option<FlowResult> {
        match self.action() {
            FlowAction::Finish(end) => Some(self.result_with(run, end, at)),
            _ => None,
        }
    }

    /// Returns the result of the flow with this end.
    pub(crate) fn result_with(&self, run: &RunId, end: FlowEnd, at: Timestamp) -> FlowResult {
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
