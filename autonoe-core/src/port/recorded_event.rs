//! Events that were written down, to be told again elsewhere.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    Delivery, GateDecision, ModelAnswer, ModelAsked, ModelMessages, ModelPart, RunEvent,
    RunEventKind, ToolCall, ToolExecution, WaitReason,
};
use crate::domain::duration::millis;
use crate::domain::{
    AgentSessionId, BudgetKind, CostUsd, DeliverableId, Failure, FlowReport, ForeignLedger,
    InstructionName, LedgerHash, Mode, RunId, RunReport, SessionResult, SpanContext, StatusChange,
    StreamEvent, TokenUsage,
};

/// A [`RunEvent`] that was written as JSON and is read again.
///
/// It has all that was written. What a model was asked and answered is not, and no observer is
/// told it again; what the agent said is. Fields that are not known are passed over.
///
/// ```
/// use autonoe_core::{RecordedEvent, RunEvent, RunEventKind};
/// use serde_json::json;
///
/// let event: RecordedEvent = serde_json::from_value(json!({
///     "at": "2026-01-01T00:00:00Z",
///     "traceId": "000000000000000000000000000000ab",
///     "spanId": "0000000000000001",
///     "event": "warning",
///     "message": "The disk is nearly full.",
/// }))?;
///
/// let mut told = String::new();
/// event.tell("", &mut |event: &RunEvent<'_>| {
///     if let RunEventKind::Warning { message } = &event.kind {
///         told = (*message).to_owned();
///     }
/// });
/// assert_eq!(told, "The disk is nearly full.");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RecordedEvent {
    /// When it happened.
    pub at: Timestamp,
    /// Where in the tree of the run.
    #[serde(flatten)]
    pub span: SpanContext,
    #[serde(flatten)]
    pub(super) kind: RecordedKind,
}

/// The kinds of events, with all that belongs to them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum RecordedKind {
    RunStarted {
        run: RunId,
        mode: Mode,
    },
    FlowStarted {
        run: RunId,
        flow: String,
        resumed: bool,
    },
    SessionStarted {
        number: u32,
        instruction: InstructionName,
        #[serde(default)]
        model: Option<String>,
    },
    ConversationResumed {
        conversation: AgentSessionId,
    },
    AgentStarted {
        prompt: String,
    },
    AgentEnded {
        answer: String,
    },
    AgentFailed {
        error: Failure,
    },
    Agent {
        stream: StreamEvent,
    },
    ToolDecided {
        call: ToolCall,
        decision: GateDecision,
    },
    ToolProgress {
        tool: String,
        #[serde(default)]
        call_id: Option<String>,
        title: String,
        metadata: Map<String, Value>,
    },
    ToolEnded {
        call_id: String,
        tool: String,
        #[serde(flatten)]
        execution: ToolExecution,
    },
    ModelStarted {
        model: String,
        #[serde(default)]
        provider: Option<String>,
        messages: usize,
        #[serde(default)]
        max_tokens: Option<u64>,
    },
    ModelChunk {
        part: ModelPart,
        text: String,
    },
    ModelEnded {
        tool_calls: usize,
        tokens: TokenUsage,
        #[serde(rename = "costUsd", default)]
        cost: Option<CostUsd>,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        id: Option<String>,
        #[serde(default)]
        stop_reason: Option<String>,
    },
    ModelFailed {
        error: Failure,
        tokens: TokenUsage,
    },
    ProgressShown {
        message: String,
    },
    ProgressHidden,
    StatusChanged {
        change: StatusChange,
    },
    Deprecated {
        id: DeliverableId,
    },
    Verified {
        id: DeliverableId,
    },
    LedgerRestored {
        #[serde(flatten)]
        foreign: ForeignLedger,
    },
    LedgerEdited {
        recorded: LedgerHash,
        found: LedgerHash,
    },
    SessionEnded {
        number: u32,
        result: SessionResult,
    },
    WaitStarted {
        reason: WaitReason,
        until: Timestamp,
    },
    WaitTick {
        reason: WaitReason,
        until: Timestamp,
        #[serde(rename = "remainingMs", with = "millis")]
        remaining: Duration,
    },
    WaitEnded {
        reason: WaitReason,
    },
    Paused,
    Resumed,
    Instructed {
        text: String,
        delivery: Delivery,
    },
    BudgetSpent {
        budget: BudgetKind,
    },
    Warning {
        message: String,
    },
    Debug {
        message: String,
        #[serde(default)]
        data: Option<Value>,
    },
    Trace {
        message: String,
        #[serde(default)]
        data: Option<Value>,
    },
    RunEnded {
        report: RunReport,
    },
    FlowEnded {
        report: FlowReport,
    },
    /// Of a later version.
    #[serde(other)]
    Unknown,
}

impl RecordedEvent {
    /// Tells it, unless nothing is known of its kind. `output` is what an agent was given of a tool
    /// that ended, which is written in an event before.
    pub fn tell(&self, output: &str, hear: &mut dyn FnMut(&RunEvent<'_>)) {
        let nothing = || Value::Array(Vec::new());
        let (asked, answer);
        let kind = match &self.kind {
            RecordedKind::RunStarted { run, mode } => RunEventKind::RunStarted { run, mode: *mode },
            RecordedKind::FlowStarted { run, flow, resumed } => RunEventKind::FlowStarted {
                run,
                flow,
                resumed: *resumed,
            },
            RecordedKind::SessionStarted {
                number,
                instruction,
                model,
            } => RunEventKind::SessionStarted {
                number: *number,
                instruction,
                model: model.as_deref(),
            },
            RecordedKind::ConversationResumed { conversation } => {
                RunEventKind::ConversationResumed { conversation }
            }
            RecordedKind::AgentStarted { prompt } => RunEventKind::AgentStarted { prompt },
            RecordedKind::AgentEnded { answer } => RunEventKind::AgentEnded { answer },
            RecordedKind::AgentFailed { error } => RunEventKind::AgentFailed { error },
            RecordedKind::Agent { stream } => RunEventKind::Agent { stream },
            RecordedKind::ToolDecided { call, decision } => {
                RunEventKind::ToolDecided { call, decision }
            }
            RecordedKind::ToolProgress {
                tool,
                call_id,
                title,
                metadata,
            } => RunEventKind::ToolProgress {
                tool,
                call_id: call_id.as_deref(),
                title,
                metadata,
            },
            RecordedKind::ToolEnded {
                call_id,
                tool,
                execution,
            } => RunEventKind::ToolEnded {
                call_id,
                tool,
                output,
                execution,
            },
            RecordedKind::ModelStarted {
                model,
                provider,
                messages,
                max_tokens,
            } => {
                asked = ModelAsked {
                    model,
                    provider: provider.as_deref(),
                    messages: ModelMessages::new(*messages, &nothing),
                    max_tokens: *max_tokens,
                };
                RunEventKind::ModelStarted { asked: &asked }
            }
            RecordedKind::ModelChunk { part, text } => {
                RunEventKind::ModelChunk { part: *part, text }
            }
            RecordedKind::ModelEnded {
                tool_calls,
                tokens,
                cost,
                model,
                id,
                stop_reason,
            } => {
                answer = ModelAnswer {
                    text: "",
                    parts: None,
                    tool_calls: *tool_calls,
                    tokens: *tokens,
                    cost: *cost,
                    model: model.as_deref(),
                    id: id.as_deref(),
                    stop_reason: stop_reason.as_deref(),
                };
                RunEventKind::ModelEnded { answer: &answer }
            }
            RecordedKind::ModelFailed { error, tokens } => RunEventKind::ModelFailed {
                error,
                tokens: *tokens,
            },
            RecordedKind::ProgressShown { message } => RunEventKind::ProgressShown { message },
            RecordedKind::ProgressHidden => RunEventKind::ProgressHidden,
            RecordedKind::StatusChanged { change } => RunEventKind::StatusChanged { change },
            RecordedKind::Deprecated { id } => RunEventKind::Deprecated { id },
            RecordedKind::Verified { id } => RunEventKind::Verified { id },
            RecordedKind::LedgerRestored { foreign } => RunEventKind::LedgerRestored { foreign },
            RecordedKind::LedgerEdited { recorded, found } => RunEventKind::LedgerEdited {
                recorded: *recorded,
                found: *found,
            },
            RecordedKind::SessionEnded { number, result } => RunEventKind::SessionEnded {
                number: *number,
                result,
            },
            RecordedKind::WaitStarted { reason, until } => RunEventKind::WaitStarted {
                reason: *reason,
                until: *until,
            },
            RecordedKind::WaitTick {
                reason,
                until,
                remaining,
            } => RunEventKind::WaitTick {
                reason: *reason,
                until: *until,
                remaining: *remaining,
            },
            RecordedKind::WaitEnded { reason } => RunEventKind::WaitEnded { reason: *reason },
            RecordedKind::Paused => RunEventKind::Paused,
            RecordedKind::Resumed => RunEventKind::Resumed,
            RecordedKind::Instructed { text, delivery } => RunEventKind::Instructed {
                text,
                delivery: *delivery,
            },
            RecordedKind::BudgetSpent { budget } => RunEventKind::BudgetSpent { budget: *budget },
            RecordedKind::Warning { message } => RunEventKind::Warning { message },
            RecordedKind::Debug { message, data } => RunEventKind::Debug {
                message,
                data: data.as_ref(),
            },
            RecordedKind::Trace { message, data } => RunEventKind::Trace {
                message,
                data: data.as_ref(),
            },
            RecordedKind::RunEnded { report } => RunEventKind::RunEnded { report },
            RecordedKind::FlowEnded { report } => RunEventKind::FlowEnded { report },
            RecordedKind::Unknown => return,
        };
        hear(&RunEvent {
            at: self.at,
            span: self.span,
            kind,
        });
    }
}
