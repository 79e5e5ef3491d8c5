//! Events of a task loop.

use autonoe_core::RunId;
use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_core::time::AgentSessionId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::budget::Spending;
use crate::executor::{ExecutionOutcome, ExecutionReport, TaskId, Verification};
use crate::isolation::WorkLocation;
use crate::progress::ProgressSignal;
use crate::recovery::{RecoveryAttempt, RecoveryStep, SkippedStrategy};
use crate::stuck::StuckReport;

/// A message of a person that an agent has received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeliveredMessage {
    /// Its ID, if the sender has set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The text of the message.
    pub text: String,
}

/// An event of a task loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "most events are of that variant")]
pub enum WorkEvent {
    /// A run starts, or starts again after its process was lost. The following events belong to it.
    Opened {
        /// The run.
        run: RunId,
        /// The time.
        at: Timestamp,
    },
    /// Work on a task started, or started again after its process was lost.
    TaskStarted {
        /// The task.
        task: TaskId,
        /// The time.
        at: Timestamp,
    },
    /// A turn of an agent is about to start. Without a later event of that turn, it was
    /// interrupted.
    IterationStarted {
        /// The task.
        task: TaskId,
        /// The number of the iteration, starting at 1; counted separately on each branch.
        iteration: u32,
        /// The branch, if it is an exploration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The time.
        at: Timestamp,
    },
    /// The turn of an agent did not start after all. Nothing was spent on it.
    NotStarted {
        /// The task.
        task: TaskId,
        /// The number of the iteration, starting at 1; counted separately on each branch.
        iteration: u32,
        /// The branch, if it was an exploration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The reason, for people.
        reason: String,
    },
    /// An agent finished a turn.
    IterationEnded {
        /// The task.
        task: TaskId,
        /// The number of the iteration, starting at 1; counted separately on each branch.
        iteration: u32,
        /// The branch, if it was an exploration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The end time.
        at: Timestamp,
        /// The name of the executor.
        cli: String,
        /// The model, if one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The outcome of the execution.
        end: ExecutionOutcome,
        /// The backend's ID of the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<AgentSessionId>,
        /// The verification of the task.
        verification: Verification,
        /// The progress, from 0 to 1.
        score: f64,
        /// The report of the stuck detector.
        stuck: StuckReport,
        /// The number of denied calls.
        denied: u32,
        /// The messages of people that the agent received, each once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<DeliveredMessage>,
        /// The cost.
        cost: CostTotal,
        /// The tokens.
        tokens: TokenUsage,
        /// The duration in milliseconds.
        duration_ms: u64,
        /// The progress signal.
        #[serde(default)]
        signal: ProgressSignal,
        /// The whole output of the agent, if the verification did not pass.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
        /// The additional spending on the verification.
        #[serde(default, skip_serializing_if = "is_nothing")]
        checks: Spending,
        /// Whether the work was stopped during the turn; its cost may be unknown then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
        /// The result, if the verification passed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Box<ExecutionReport>>,
    },
    /// A task waits for the quota of its backend, or for a failure to pass. The previous turn does
    /// not count as an iteration.
    Waiting {
        /// The task.
        task: TaskId,
        /// The end of the wait.
        until: Timestamp,
    },
    /// A recovery step was taken for a stuck agent.
    Recovered {
        /// The task.
        task: TaskId,
        /// The last iteration before it.
        iteration: u32,
        /// The `type` of the strategy.
        strategy: String,
        /// The change.
        step: RecoveryStep,
        /// The strategies that could not be applied before it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<SkippedStrategy>,
        /// The position on the ladder after it.
        #[serde(default)]
        attempt: RecoveryAttempt,
    },
    /// The exploration of one approach ended.
    Explored {
        /// The task.
        task: TaskId,
        /// The branch.
        branch: String,
        /// Whether its work was merged.
        merged: bool,
        /// The location of its work, if it was not merged.
        #[serde(default, alias = "kept", skip_serializing_if = "Option::is_none")]
        unmerged_work: Option<WorkLocation>,
        /// The outcome, for people.
        outcome: String,
    },
    /// Verified work was verified again, before a merge.
    Checked {
        /// The spending on the verification.
        checks: Spending,
        /// Whether the work was stopped during the verification.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
    },
    /// Work on a task ended.
    Ended {
        /// The task.
        task: TaskId,
        /// The time.
        at: Timestamp,
        /// Whether it is done and verified.
        success: bool,
        /// The reason, for people.
        reason: String,
        /// The number of iterations.
        iterations: u32,
    },
    /// Work on a task was stopped from outside; it is neither done nor failed.
    Stopped {
        /// The task.
        task: TaskId,
        /// The time.
        at: Timestamp,
        /// The number of iterations until then.
        iterations: u32,
    },
    /// The work is over, with the messages that no agent has received.
    Closed {
        /// The texts of those messages.
        undelivered: Vec<String>,
    },
}

fn is_nothing(spending: &Spending) -> bool {
    *spending == Spending::default()
}
