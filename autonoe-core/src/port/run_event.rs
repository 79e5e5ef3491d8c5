//! What happens in a run, for those who watch.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{GateDecision, ToolCall};
use crate::domain::duration::millis;
use crate::domain::{
    BudgetKind, DeliverableId, InstructionName, Mode, RunId, RunReport, SessionResult, SpanContext,
    StatusChange, StreamEvent,
};

/// Something that happened in a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunEvent<'a> {
    /// When.
    pub at: Timestamp,
    /// Where in the tree of the run.
    #[serde(flatten)]
    pub span: SpanContext,
    /// What.
    #[serde(flatten)]
    pub kind: RunEventKind<'a>,
}

/// What happened in a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum RunEventKind<'a> {
    /// The run began.
    RunStarted {
        /// The run.
        run: &'a RunId,
        /// What it is for.
        mode: Mode,
    },
    /// A session is about to begin.
    SessionStarted {
        /// Its number in the run.
        number: u32,
        /// What the agent is told to do.
        instruction: &'a InstructionName,
        /// The model, when one was chosen.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'a str>,
    },
    /// The agent said or did something.
    Agent {
        /// What.
        stream: &'a StreamEvent,
    },
    /// It was decided whether a tool call may run.
    ToolDecided {
        /// The call.
        call: &'a ToolCall,
        /// The decision.
        decision: &'a GateDecision,
    },
    /// One of our tools told how far it is.
    ToolProgress {
        /// The tool.
        tool: &'a str,
        /// The call, when the backend told it.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<&'a str>,
        /// What it does now, in a few words.
        title: &'a str,
        /// Details, by the tool's own names.
        metadata: &'a Map<String, Value>,
    },
    /// A deliverable was created or changed its status.
    StatusChanged {
        /// The change.
        change: &'a StatusChange,
    },
    /// A deliverable was dropped by the specification.
    Deprecated {
        /// The deliverable.
        id: &'a DeliverableId,
    },
    /// A deliverable was verified by a sync.
    Verified {
        /// The deliverable.
        id: &'a DeliverableId,
    },
    /// A session is over and its client disposed of.
    SessionEnded {
        /// Its number in the run.
        number: u32,
        /// What is known of it.
        result: &'a SessionResult,
    },
    /// The run waits.
    WaitStarted {
        /// For what.
        reason: WaitReason,
        /// Until when.
        until: Timestamp,
    },
    /// The run still waits; told every second of a wait for quota.
    WaitTick {
        /// For what.
        reason: WaitReason,
        /// Until when.
        until: Timestamp,
        /// How long still.
        #[serde(rename = "remainingMs", with = "millis")]
        #[schemars(with = "u64")]
        remaining: Duration,
    },
    /// The wait is over.
    WaitEnded {
        /// For what it waited.
        reason: WaitReason,
    },
    /// The run was asked to pause and holds before the next session.
    Paused,
    /// The run goes on after a pause.
    Resumed,
    /// A person told the run something.
    Instructed {
        /// What.
        text: &'a str,
        /// How it reaches the agent.
        delivery: Delivery,
    },
    /// A part of the run's budget is spent.
    BudgetSpent {
        /// Which part.
        budget: BudgetKind,
    },
    /// Something went wrong that the run goes on from.
    Warning {
        /// What.
        message: &'a str,
    },
    /// The run is over.
    RunEnded {
        /// What it comes to.
        report: &'a RunReport,
    },
}

/// What a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WaitReason {
    /// The pause between sessions.
    Pause,
    /// The quota; the end of the wait is when it resets.
    Quota,
    /// The quota; nobody knows when it resets, so this is a back-off.
    QuotaBackoff,
    /// The delay that a failed service asked for.
    RetryAfter,
}

/// How an instruction of a person reaches the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The running session took it.
    Steered,
    /// It will be part of the next session's prompt.
    Queued,
}
