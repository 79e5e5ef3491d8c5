//! Result of executing a task.

use std::time::Duration;

use autonoe_core::agent::{BudgetUsage, CostTotal, TokenUsage};
use autonoe_core::time::AgentSessionId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExecutionOutcome, TaskId};
use crate::budget::Spending;

/// Result of executing a task.
///
/// ```
/// use autonoe_harness::executor::ExecutionOutcome;
/// use autonoe_harness::{ExecutionReport, Task};
///
/// let task = Task::new("T-001", "Add a login page.")?;
/// let result = ExecutionReport::new(&task, "codex", ExecutionOutcome::TimedOut { after_seconds: 60 });
///
/// assert!(!result.is_success());
/// assert_eq!(result.error().as_deref(), Some("timed out after 60 seconds"));
/// # Ok::<(), autonoe_harness::executor::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(with = "Written")]
#[non_exhaustive]
pub struct ExecutionReport {
    /// The task.
    pub task: TaskId,
    /// The name of the executor.
    pub cli: String,
    /// The requested model; `None` left the choice to the backend.
    pub model: Option<String>,
    /// The outcome.
    pub end: ExecutionOutcome,
    /// The whole output of the agent, also if it was stopped.
    pub output: String,
    /// The last text of the agent, after its last tool call.
    pub answer: String,
    /// The names of the refused tool calls, in order.
    pub denied: Vec<String>,
    /// The tool calls of the agent: each with the tool and its target.
    pub calls: Vec<String>,
    /// The start time.
    pub started_at: Timestamp,
    /// The duration.
    pub duration: Duration,
    /// The backend's ID of the conversation, to continue it.
    pub conversation: Option<AgentSessionId>,
    /// Whether the execution continued an earlier conversation, by
    /// [`Execution::resume`](super::Execution).
    pub continued: bool,
    /// The cost, as far as it is known.
    pub cost: CostTotal,
    /// The reported tokens.
    pub tokens: TokenUsage,
}

impl ExecutionReport {
    /// Creates the result of an execution without output and spending.
    pub fn new(task: &super::Task, cli: impl Into<String>, end: ExecutionOutcome) -> Self {
        Self {
            task: task.id.clone(),
            cli: cli.into(),
            model: None,
            end,
            output: String::new(),
            answer: String::new(),
            denied: Vec::new(),
            calls: Vec::new(),
            started_at: Timestamp::UNIX_EPOCH,
            duration: Duration::ZERO,
            conversation: None,
            continued: false,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
        }
    }

    /// Returns whether the backend reported that the agent finished its turn.
    pub fn is_success(&self) -> bool {
        self.end == ExecutionOutcome::Completed
    }

    /// Returns the spending of the execution.
    pub(crate) fn spending(&self) -> Spending {
        Spending {
            spent: BudgetUsage {
                cost: self.cost,
                tokens: self.tokens,
                time: self.duration,
            },
            sessions: 1,
        }
    }

    /// Returns the reason of a failure; `None` for a success.
    pub fn error(&self) -> Option<String> {
        (!self.is_success()).then(|| self.end.to_string())
    }
}

/// Serialised form of a result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExecutionReport")]
struct Written {
    /// The task.
    task: TaskId,
    /// The name of the executor.
    cli: String,
    /// The requested model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Whether the backend reported that the agent finished its turn.
    success: bool,
    #[serde(flatten)]
    end: ExecutionOutcome,
    /// The reason of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The whole output of the agent.
    output: String,
    /// The last text of the agent.
    answer: String,
    /// The names of the refused tool calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    denied: Vec<String>,
    /// The tool calls of the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    /// The start time.
    started_at: Timestamp,
    /// The duration in milliseconds.
    duration_ms: u64,
    /// The backend's ID of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conversation: Option<AgentSessionId>,
    /// Whether the execution continued an earlier conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    continued: bool,
    /// The cost, as far as it is known.
    cost: CostTotal,
    /// The reported tokens.
    tokens: TokenUsage,
}

impl From<ExecutionReport> for Written {
    fn from(result: ExecutionReport) -> Self {
        Self {
            success: result.is_success(),
            error: result.error(),
            task: result.task,
            cli: result.cli,
            model: result.model,
            end: result.end,
            output: result.output,
            answer: result.answer,
            denied: result.denied,
            calls: result.calls,
            started_at: result.started_at,
            duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
            conversation: result.conversation,
            continued: result.continued,
            cost: result.cost,
            tokens: result.tokens,
        }
    }
}

impl TryFrom<Written> for ExecutionReport {
    type Error = Contradiction;

    fn try_from(written: Written) -> Result<Self, Contradiction> {
        let result = Self {
            task: written.task,
            cli: written.cli,
            model: written.model,
            end: written.end,
            output: written.output,
            answer: written.answer,
            denied: written.denied,
            calls: written.calls,
            started_at: written.started_at,
            duration: Duration::from_millis(written.duration_ms),
            conversation: written.conversation,
            continued: written.continued,
            cost: written.cost,
            tokens: written.tokens,
        };
        if result.is_success() == written.success {
            Ok(result)
        } else {
            Err(Contradiction { end: result.end })
        }
    }
}

/// A result whose `success` contradicts its outcome.
#[derive(Debug, thiserror::Error)]
#[error("`success` contradicts `end`: the execution {end}")]
struct Contradiction {
    end: ExecutionOutcome,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::executor::Task;

    #[test]
    fn a_result_is_read_as_it_was_written_and_cannot_contradict_itself() {
        let task = Task::new("T-1", "Do it.").expect("an id");
        let mut result = ExecutionReport::new(&task, "codex", ExecutionOutcome::Cancelled);
        result.output = "half".to_owned();
        result.duration = Duration::from_millis(1500);

        let mut json = serde_json::to_value(&result).expect("it serialises");

        assert_eq!(
            json,
            json!({
                "task": "T-1", "cli": "codex", "success": false, "end": "cancelled",
                "error": "was cancelled", "output": "half", "answer": "",
                "startedAt": "1970-01-01T00:00:00Z", "durationMs": 1500,
                "cost": {"knownUsd": "0", "unknownParts": 0},
                "tokens": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0},
            })
        );
        let read: ExecutionReport = serde_json::from_value(json.clone()).expect("a result");
        assert_eq!(read, result);
        json["success"] = json!(true);
        assert!(serde_json::from_value::<ExecutionReport>(json).is_err());
    }
}
