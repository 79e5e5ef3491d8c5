//! [`StreamReporter`] emits the events of an agent from its stream, the same for every backend.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::agent::{SessionEnd, SessionOutcome, StreamEvent};
use crate::event::Failure;
use crate::event::{Events, RunEventKind};
use crate::time::Clock;
use crate::time::timestamp::between;
use crate::tool::ToolStatus;
use crate::tool::{CallRecords, ProgressNote, ToolErrorCode, ToolExecution, Toolbox};

/// Emits the events of an agent, from its prompt to its end.
///
/// Each call gets one start and one end, both at the span of the call, and each agent gets one end,
/// even if its stream ends without one. Progress is shown from the start to the end of each agent.
pub(super) struct StreamReporter {
    events: Events,
    clock: Arc<dyn Clock>,
    records: CallRecords,
    /// Calls without a response, by ID.
    open: BTreeMap<String, OpenCall>,
    /// The agent's text since its last call.
    answer: String,
    /// Shown from the start to the end of the agent.
    progress: Option<ProgressNote>,
    is_over: bool,
}

struct OpenCall {
    tool: String,
    since: Timestamp,
}

impl StreamReporter {
    /// Starts reporting on an agent that receives `prompt`.
    pub(super) fn start(
        events: Events,
        clock: Arc<dyn Clock>,
        records: CallRecords,
        prompt: &str,
    ) -> Self {
        events.emit(RunEventKind::AgentStarted { prompt });
        Self {
            progress: Some(events.progress("working")),
            events,
            clock,
            records,
            open: BTreeMap::new(),
            answer: String::new(),
            is_over: false,
        }
    }

    /// Emits the events for one item of the agent's stream.
    pub(super) fn report(&mut self, stream: &StreamEvent) {
        match stream {
            StreamEvent::ToolInvocation {
                call_id,
                name,
                input,
                agent,
                ..
            } => {
                if let Some(tool) = Toolbox::tool_name(name) {
                    self.records.announce(call_id, tool, input);
                }
                self.events
                    .at_call(call_id)
                    .emit(RunEventKind::Agent { stream });
                let call = OpenCall {
                    tool: name.clone(),
                    since: self.clock.now(),
                };
                self.open.insert(call_id.clone(), call);
                if agent.is_none() {
                    self.answer.clear();
                }
            }
            StreamEvent::ToolResponse {
                call_id,
                output,
                status,
            } => {
                self.events
                    .at_call(call_id)
                    .emit(RunEventKind::Agent { stream });
                if let Some(call) = self.open.remove(call_id) {
                    self.tool_ended(call_id, &call, *status, output);
                }
            }
            _ => {
                if let StreamEvent::Text { text, agent: None } = stream {
                    self.answer.push_str(text);
                }
                self.events.emit(RunEventKind::Agent { stream });
                if let StreamEvent::End { outcome, .. } = stream {
                    self.end(&SessionEnd::Outcome(outcome.clone()));
                }
            }
        }
    }

    /// Emits the end of the agent, unless it was emitted before.
    pub(super) fn end(&mut self, end: &SessionEnd) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        for (call_id, call) in std::mem::take(&mut self.open) {
            self.tool_cut_off(&call_id, &call);
        }
        self.progress = None;
        match failure(end) {
            None => self.events.emit(RunEventKind::AgentEnded {
                answer: &self.answer,
            }),
            Some(error) => self
                .events
                .emit(RunEventKind::AgentFailed { error: &error }),
        }
    }

    fn tool_ended(&self, call_id: &str, call: &OpenCall, status: ToolStatus, output: &str) {
        let mut execution = ToolExecution::new(status, self.since(call));
        if let Some(record) = self.records.take(call_id) {
            execution = execution.with_record(record);
        }
        self.emit_tool_ended(call_id, call, output, &execution);
    }

    /// Emits the end of a call that had no response when the session ended.
    fn tool_cut_off(&self, call_id: &str, call: &OpenCall) {
        self.records.take(call_id);
        let mut execution = ToolExecution::new(ToolStatus::Error, self.since(call));
        execution.error = Some(ToolErrorCode::CANCELLED);
        execution.message = Some("the session ended before the call did".to_owned());
        self.emit_tool_ended(call_id, call, "", &execution);
    }

    fn emit_tool_ended(
        &self,
        call_id: &str,
        call: &OpenCall,
        output: &str,
        execution: &ToolExecution,
    ) {
        self.events.at_call(call_id).emit(RunEventKind::ToolEnded {
            call_id,
            tool: &call.tool,
            output,
            execution,
        });
    }

    fn since(&self, call: &OpenCall) -> std::time::Duration {
        between(call.since, self.clock.now())
    }
}

/// Returns the reason why an agent did not finish its turn, or `None` if it did.
fn failure(end: &SessionEnd) -> Option<Failure> {
    let code = match end {
        SessionEnd::Failed { error } => return Some(error.clone()),
        SessionEnd::BudgetSpent { .. } => "budget_spent",
        SessionEnd::Cancelled => "cancelled",
        SessionEnd::Outcome(outcome) => match outcome {
            SessionOutcome::Completed => return None,
            SessionOutcome::ExecutionError { .. } => "execution_error",
            SessionOutcome::MaxTurns => "max_turns",
            SessionOutcome::BudgetExceeded => "budget_exceeded",
            SessionOutcome::QuotaExceeded { .. } => "quota_exceeded",
            SessionOutcome::Interrupted => "interrupted",
        },
    };
    Some(Failure::retryable(code, format!("the agent {end}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::BudgetKind;

    #[test]
    fn only_a_finished_turn_is_no_failure() {
        let outcome = SessionEnd::Outcome;
        let broken = Failure::permanent("crashed", "it is gone");
        for (end, code) in [
            (outcome(SessionOutcome::Completed), None),
            (
                outcome(SessionOutcome::ExecutionError { messages: vec![] }),
                Some("execution_error"),
            ),
            (outcome(SessionOutcome::MaxTurns), Some("max_turns")),
            (
                outcome(SessionOutcome::BudgetExceeded),
                Some("budget_exceeded"),
            ),
            (
                outcome(SessionOutcome::QuotaExceeded {
                    message: "later".to_owned(),
                    resets_at: None,
                }),
                Some("quota_exceeded"),
            ),
            (outcome(SessionOutcome::Interrupted), Some("interrupted")),
            (
                SessionEnd::BudgetSpent {
                    budget: BudgetKind::Cost,
                },
                Some("budget_spent"),
            ),
            (SessionEnd::Cancelled, Some("cancelled")),
            (SessionEnd::Failed { error: broken }, Some("crashed")),
        ] {
            let found = failure(&end);
            assert_eq!(
                found.as_ref().map(|error| error.code.as_str()),
                code,
                "{end:?}"
            );
        }
    }
}
