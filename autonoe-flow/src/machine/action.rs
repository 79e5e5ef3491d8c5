//! [`FlowAction`]: a request of the flow machine to its driver, and [`FlowResult`]: the result of a flow.

use std::collections::BTreeMap;
use std::time::Duration;

use autonoe_core::time::{AgentSessionId, millis};
use autonoe_core::{Budget, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{FlowFailure, FlowMachine, IterationSummary, SessionUsage, StepRecord};
use crate::check::ToolOutcome;
use crate::definition::{FlowName, StepEscalation, StepId, VariableName};
use crate::prompt::Variables;

/// A request of a [`FlowMachine`](super::FlowMachine) to its driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum FlowAction {
    /// Continue the action in progress.
    Continue,
    /// Send the prompt of a step; report the result as `Prompted`.
    Prompt(PromptOrder),
    /// Check a step; report the result as `Checked`.
    Check(CheckOrder),
    /// Stop the prompt or the check in progress; report how it ended.
    Stop,
    /// Check whether the flow is complete; report the result as `CompletionChecked`.
    CheckCompletion(CompletionOrder),
    /// Send the notification of a failure; report the result as `Notified`.
    Notify(NotifyOrder),
    /// Wait; report the end as `WaitOver`.
    Wait {
        /// The reason of the wait.
        reason: FlowWait,
        /// The end of the wait.
        until: Timestamp,
    },
    /// The flow is finished, or stopped until it is resumed.
    Finish(FlowEnd),
}

/// One attempt of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StepAttempt {
    /// The step.
    pub step: StepId,
    /// The number of visits of the step, including this one.
    pub visit: u32,
    /// The number of retries in this visit.
    pub retry: u32,
}

/// A request to send a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptOrder {
    /// The iteration, counted from 1.
    pub iteration: u64,
    /// The attempt.
    #[serde(flatten)]
    pub at: StepAttempt,
    /// The conversation that the prompt belongs to.
    pub session: SessionChoice,
    /// The variables of the prompt. A retry uses those of the first attempt of the visit.
    pub variables: Variables,
    /// The outputs that the agent may set.
    pub outputs: Vec<VariableName>,
    /// Whether a model judges this step or an enclosing one. The answer then contains the inputs
    /// and outputs of tool calls.
    pub judged: bool,
    /// The remaining budget.
    pub budget: Budget,
}

/// The conversation that a prompt belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionChoice {
    /// The conversation of the previous answer.
    Continue(AgentSessionId),
    /// A new one: there is none to continue, the last one failed, or the flow restarts.
    Fresh,
}

/// A request to check a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckOrder {
    /// The number of iterations so far.
    pub iteration: u64,
    /// The attempt.
    #[serde(flatten)]
    pub at: StepAttempt,
    /// The text parts of all answers of this attempt, including sub-steps.
    pub text: String,
    /// The tool calls of this attempt, including sub-steps.
    pub actions: Vec<ToolOutcome>,
    /// The variables of the check's prompt.
    pub variables: Variables,
    /// The remaining budget.
    pub budget: Budget,
}

/// A request to check whether the flow is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompletionOrder {
    /// The number of iterations so far, at least 1.
    pub iteration: u64,
    /// The last step that ran.
    pub step: StepId,
    /// The text parts of the last answer.
    pub text: String,
    /// Whether the steps have reached their end.
    pub at_end: bool,
}

/// A request to send the notification of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NotifyOrder {
    /// Time of the final failure of the step. It stays the same when the notification is repeated
    /// after a crash.
    pub failed_at: Timestamp,
    /// The number of iterations so far.
    pub iteration: u64,
    /// The step that failed for good.
    pub step: StepId,
    /// The number of the visit, counted from 1.
    pub visit: u32,
    /// The escalation, with its receiver and method.
    pub escalation: StepEscalation,
    /// The reason of the failure.
    pub failure: FlowFailure,
}

/// The reason of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowWait {
    /// A step is retried after an error of the agent.
    Retry,
    /// The completion check is retried after an error.
    Completion,
    /// The service of the agent reported a rate limit with a reset time.
    RateLimit,
    /// The service of the agent reported a rate limit without a reset time.
    RateLimitBackoff,
    /// An undelivered notification is retried.
    Notification,
}

/// End of a flow, or the reason for its stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "end",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum FlowEnd {
    /// The flow is complete.
    Complete {
        /// The reason, for people; not empty.
        reason: String,
        /// The last result of each condition of a composite, by its name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        states: BTreeMap<String, bool>,
    },
    /// The flow failed for good.
    Failed {
        /// The reason.
        failure: FlowFailure,
    },
    /// The flow stopped and can be resumed: an operator stopped it, a quota or a budget is
    /// exhausted, or a prompt cannot be used.
    Stopped {
        /// The reason.
        failure: FlowFailure,
    },
}

impl FlowEnd {
    /// Returns whether the flow is complete.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Complete { .. })
    }

    /// Returns whether the flow can be resumed.
    pub fn is_resumable(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }

    /// Returns why the flow failed or stopped. It is `None` exactly when the flow is complete.
    pub fn failure(&self) -> Option<&FlowFailure> {
        match self {
            Self::Complete { .. } => None,
            Self::Failed { failure } | Self::Stopped { failure } => Some(failure),
        }
    }
}

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
    pub spent: SessionUsage,
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
