//! [`RunEvent`], emitted to observers for everything that happens in a run.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::{BudgetKind, SessionReport, StreamEvent, TokenUsage};
use crate::agent::{ModelAnswer, ModelCallRequest, ModelPart};
use crate::event::{Failure, InstructionName, SpanContext};
use crate::gate::GateDecision;
use crate::ledger::{DeliverableId, ForeignLedger, LedgerHash, StatusChange};
use crate::run::{FlowReport, RunReport};
use crate::time::millis;
use crate::time::{AgentSessionId, Mode, RunId};
use crate::tool::{ToolCall, ToolExecution};

/// An event of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunEvent<'a> {
    /// Time of the event.
    pub at: Timestamp,
    /// Position of the event in the span tree.
    #[serde(flatten)]
    pub span: SpanContext,
    /// Kind of the event, with its data.
    #[serde(flatten)]
    pub kind: RunEventKind<'a>,
}

/// Kind of an event of a run, with its data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum RunEventKind<'a> {
    /// The run started.
    RunStarted {
        /// Id of the run.
        run: &'a RunId,
        /// Mode of the run.
        mode: Mode,
    },
    /// A flow started: a run whose sessions the caller chooses. Emitted instead of
    /// [`RunStarted`](Self::RunStarted).
    FlowStarted {
        /// Id of the run.
        run: &'a RunId,
        /// Name of the flow.
        flow: &'a str,
        /// Whether an interrupted run is resumed.
        resumed: bool,
    },
    /// A session is about to start.
    SessionStarted {
        /// Number of the session in the run.
        number: u32,
        /// Name of the instruction.
        instruction: &'a InstructionName,
        /// Model, if one was chosen.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'a str>,
    },
    /// The session that has just started resumes an earlier conversation.
    ConversationResumed {
        /// The backend's name for the conversation.
        conversation: &'a AgentSessionId,
    },
    /// The agent receives its prompt. Exactly one [`AgentEnded`](Self::AgentEnded) or
    /// [`AgentFailed`](Self::AgentFailed) event follows.
    AgentStarted {
        /// Prompt of the agent.
        prompt: &'a str,
    },
    /// The agent finished its turn.
    AgentEnded {
        /// Last text of the agent, after its last tool call.
        answer: &'a str,
    },
    /// The agent did not finish its turn, for any reason.
    AgentFailed {
        /// Reason for the failure.
        error: &'a Failure,
    },
    /// An item in the stream of the agent. The text items, in order, form its answer.
    ///
    /// The start of a tool call and its response belong to the span of the call.
    Agent {
        /// Item of the stream.
        stream: &'a StreamEvent,
    },
    /// The gate decided about a tool call.
    ToolDecided {
        /// The tool call.
        call: &'a ToolCall,
        /// Decision of the gate.
        decision: &'a GateDecision,
    },
    /// One of Autonoe's tools reported its progress.
    ToolProgress {
        /// Name of the tool.
        tool: &'a str,
        /// Id of the call, if the backend reports it.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<&'a str>,
        /// Current activity, in a few words.
        title: &'a str,
        /// Details, in the tool's own format.
        metadata: &'a Map<String, Value>,
    },
    /// A tool call ended: it succeeded, failed or was denied. Emitted for the tools of every
    /// backend, including Autonoe's own. A call that the session did not wait for failed as
    /// `CANCELLED`.
    ToolEnded {
        /// Id of the call.
        call_id: &'a str,
        /// Name of the tool, in the backend's spelling.
        tool: &'a str,
        /// Output that the agent received. It is not serialised, because the preceding event
        /// contains it.
        #[serde(skip)]
        output: &'a str,
        /// Result of the call.
        #[serde(flatten)]
        execution: &'a ToolExecution,
    },
    /// A model call started. Exactly one [`ModelEnded`](Self::ModelEnded) or
    /// [`ModelFailed`](Self::ModelFailed) event follows.
    ModelStarted {
        /// The request to the model.
        #[serde(flatten)]
        request: &'a ModelCallRequest<'a>,
    },
    /// A chunk of a model's answer arrived.
    ModelChunk {
        /// Kind of the chunk.
        part: ModelPart,
        /// Text of the chunk.
        text: &'a str,
    },
    /// A model call succeeded.
    ModelEnded {
        /// The answer, with its usage.
        #[serde(flatten)]
        answer: &'a ModelAnswer<'a>,
    },
    /// A model call failed.
    ModelFailed {
        /// Reason for the failure.
        error: &'a Failure,
        /// Tokens used by the failed call.
        tokens: TokenUsage,
    },
    /// An operation started that humans may want to see while it runs.
    ProgressStarted {
        /// Description of the operation, in a few words.
        message: &'a str,
    },
    /// The operation ended.
    ProgressEnded,
    /// A deliverable was created or changed its status.
    StatusChanged {
        /// The status change.
        change: &'a StatusChange,
    },
    /// A deliverable was dropped from the specification.
    Deprecated {
        /// Id of the deliverable.
        id: &'a DeliverableId,
    },
    /// A sync verified a deliverable.
    Verified {
        /// Id of the deliverable.
        id: &'a DeliverableId,
    },
    /// Something other than the run changed the ledger, and the run restored it.
    LedgerRestored {
        /// The unexpected content, and the location of its copy.
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
    /// A session ended, and its client was disposed of.
    SessionEnded {
        /// Number of the session in the run.
        number: u32,
        /// Result of the session.
        result: &'a SessionReport,
    },
    /// The run started to wait.
    WaitStarted {
        /// Reason for the wait.
        reason: WaitReason,
        /// End of the wait.
        until: Timestamp,
    },
    /// The run is still waiting. Emitted every second of a wait for quota.
    WaitTick {
        /// Reason for the wait.
        reason: WaitReason,
        /// End of the wait.
        until: Timestamp,
        /// Remaining time.
        #[serde(rename = "remainingMs", with = "millis")]
        #[schemars(with = "u64")]
        remaining: Duration,
    },
    /// The wait ended.
    WaitEnded {
        /// Reason for the wait.
        reason: WaitReason,
    },
    /// The run is paused and does not start the next session.
    Paused,
    /// The run resumed after a pause.
    Resumed,
    /// The operator sent an instruction to the run.
    Instructed {
        /// Text of the instruction.
        text: &'a str,
        /// Delivery of the instruction to the agent.
        delivery: Delivery,
    },
    /// At least 80 % of a part of the run's budget is spent. Emitted once for each part, after the
    /// session or the wait in which that happened.
    BudgetNearlySpent {
        /// The part.
        budget: BudgetKind,
    },
    /// A part of the run's budget is exhausted.
    BudgetSpent {
        /// The exhausted part.
        budget: BudgetKind,
    },
    /// A problem occurred that does not end the run.
    Warning {
        /// Description of the problem.
        message: &'a str,
    },
    /// A detail that helps to find the cause of a problem.
    Debug {
        /// Message.
        message: &'a str,
        /// Additional data.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a Value>,
    },
    /// A detail at the most verbose level.
    Trace {
        /// Message.
        message: &'a str,
        /// Additional data.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a Value>,
    },
    /// The run ended.
    RunEnded {
        /// Report of the run.
        report: &'a RunReport,
    },
    /// The flow ended.
    FlowEnded {
        /// Report of the flow.
        report: &'a FlowReport,
    },
}

/// Reason for a wait of a run.
// Not `non_exhaustive`: each consumer decides about each reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The pause between sessions.
    Pause,
    /// Quota exhausted; the wait ends when the quota resets.
    Quota,
    /// Quota exhausted; the wait ends at the next attempt. The reset time is unknown, or earlier
    /// than that.
    QuotaBackoff,
    /// Delay that a failed service requested.
    RetryAfter,
}

/// Delivery of an operator's instruction to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The running session received it.
    Steered,
    /// It becomes part of the next session's prompt.
    Queued,
}
