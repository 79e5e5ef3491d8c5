//! What happens in a run, for those who watch.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{GateDecision, ModelAnswer, ModelAsked, ModelPart, ToolCall, ToolExecution};
use crate::domain::duration::millis;
use crate::domain::{
    AgentSessionId, BudgetKind, DeliverableId, Failure, FlowReport, ForeignLedger, InstructionName,
    LedgerHash, Mode, RunId, RunReport, SessionResult, SpanContext, StatusChange, StreamEvent,
    TokenUsage,
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
    /// A flow began: a run whose sessions somebody else decides about. Stands in the place of
    /// [`RunStarted`](Self::RunStarted).
    FlowStarted {
        /// The run.
        run: &'a RunId,
        /// The name of the flow.
        flow: &'a str,
        /// Whether an interrupted run is resumed.
        resumed: bool,
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
    /// The session that has just begun goes on with an earlier conversation.
    ConversationResumed {
        /// The backend's name of the conversation.
        conversation: &'a AgentSessionId,
    },
    /// The agent is given its prompt. Either [`AgentEnded`](Self::AgentEnded) or
    /// [`AgentFailed`](Self::AgentFailed) follows, once.
    AgentStarted {
        /// The prompt.
        prompt: &'a str,
    },
    /// The agent finished its turn.
    AgentEnded {
        /// What it said last, after its last tool call.
        answer: &'a str,
    },
    /// The agent did not finish its turn, whatever the reason.
    AgentFailed {
        /// The reason.
        error: &'a Failure,
    },
    /// The agent said or did something. Its words, as they come, are the stream of its answer.
    ///
    /// The start of a tool call and its answer belong to the place of the call.
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
    /// A tool call ended: it ran, failed or was refused. Told for the tools of every backend, ours
    /// and its own; a call that the session did not wait for failed as `CANCELLED`.
    ToolEnded {
        /// The call.
        call_id: &'a str,
        /// The tool, in the backend's spelling.
        tool: &'a str,
        /// What the agent was given. It is not written as JSON: there it stands in the event before.
        #[serde(skip)]
        output: &'a str,
        /// What became of the call.
        #[serde(flatten)]
        execution: &'a ToolExecution,
    },
    /// A model is asked. Either [`ModelEnded`](Self::ModelEnded) or
    /// [`ModelFailed`](Self::ModelFailed) follows, once.
    ModelStarted {
        /// What it is asked.
        #[serde(flatten)]
        asked: &'a ModelAsked<'a>,
    },
    /// A piece of a model's answer came.
    ModelChunk {
        /// What it is.
        part: ModelPart,
        /// What it says.
        text: &'a str,
    },
    /// A model answered.
    ModelEnded {
        /// What, and what that took.
        #[serde(flatten)]
        answer: &'a ModelAnswer<'a>,
    },
    /// A model did not answer.
    ModelFailed {
        /// Why.
        error: &'a Failure,
        /// What was used all the same.
        tokens: TokenUsage,
    },
    /// Something goes on that people may want to know of while it does.
    ProgressShown {
        /// What, in a few words.
        message: &'a str,
    },
    /// It goes on no more.
    ProgressHidden,
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
    /// Something other than the run changed the ledger, and the run restored it.
    LedgerRestored {
        /// What was found in its place, and where that is kept.
        #[serde(flatten)]
        foreign: &'a ForeignLedger,
    },
    /// The ledger was edited between two runs, and this run accepts it.
    LedgerEdited {
        /// The hash that the journal recorded last.
        recorded: LedgerHash,
        /// The hash of the ledger that this run found.
        found: LedgerHash,
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
    /// A detail for who looks for the cause of something.
    Debug {
        /// What.
        message: &'a str,
        /// Data that goes with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a Value>,
    },
    /// A detail that is only of use when nothing else helps.
    Trace {
        /// What.
        message: &'a str,
        /// Data that goes with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a Value>,
    },
    /// The run is over.
    RunEnded {
        /// What it comes to.
        report: &'a RunReport,
    },
    /// The flow is over.
    FlowEnded {
        /// What it comes to.
        report: &'a FlowReport,
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
    /// The quota; the end of the wait is the next try. The reset is unknown, or before that.
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
