//! What came of a task.

use std::time::Duration;

use autonoe_core::{AgentSessionId, CostTotal, TokenUsage};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExecutionEnd, TaskId};

/// What came of a task.
///
/// ```
/// use autonoe_harness::{ExecutionEnd, ExecutionResult, Task};
///
/// let task = Task::new("T-001", "Add a login page.")?;
/// let result = ExecutionResult::new(&task, "codex", ExecutionEnd::TimedOut { after_seconds: 60 });
///
/// assert!(!result.is_success());
/// assert_eq!(result.error().as_deref(), Some("was stopped: its 60 seconds were over"));
/// # Ok::<(), autonoe_harness::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(with = "Written")]
#[non_exhaustive]
pub struct ExecutionResult {
    /// The task.
    pub task: TaskId,
    /// Who carried it out.
    pub cli: String,
    /// The model that was asked for; `None` left the choice to the backend.
    pub model: Option<String>,
    /// How it ended.
    pub end: ExecutionEnd,
    /// All that the agent said, also when it was stopped in the middle.
    pub output: String,
    /// What it said last, after its last tool call.
    pub answer: String,
    /// The tool calls that were refused, by name, in their order.
    pub denied: Vec<String>,
    /// What the agent did, call by call: the tool and what it touched.
    pub calls: Vec<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The backend's name of the conversation, to continue it.
    pub conversation: Option<AgentSessionId>,
    /// Whether it continued an earlier conversation, by [`Execution::resume`](super::Execution).
    pub continued: bool,
    /// What it cost, as far as that is known.
    pub cost: CostTotal,
    /// The tokens that were told.
    pub tokens: TokenUsage,
}

impl ExecutionResult {
    /// Makes the result of an execution in which nothing was said or spent.
    pub fn new(task: &super::Task, cli: impl Into<String>, end: ExecutionEnd) -> Self {
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

    /// Tells whether the backend said that the agent finished its turn.
    pub fn is_success(&self) -> bool {
        self.end == ExecutionEnd::Completed
    }

    /// Says why it is no success; `None` if it is one.
    pub fn error(&self) -> Option<String> {
        (!self.is_success()).then(|| self.end.to_string())
    }
}

/// A result as it is written down.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExecutionResult")]
struct Written {
    /// The task.
    task: TaskId,
    /// Who carried it out.
    cli: String,
    /// The model that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Whether the backend said that the agent finished its turn.
    success: bool,
    #[serde(flatten)]
    end: ExecutionEnd,
    /// Why it is no success.
    #[serde(default, rename = "error", skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// All that the agent said.
    output: String,
    /// What it said last.
    answer: String,
    /// The tool calls that were refused, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    denied: Vec<String>,
    /// What the agent did, call by call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    /// When it began.
    started_at: Timestamp,
    /// How many milliseconds it took.
    duration_ms: u64,
    /// The backend's name of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conversation: Option<AgentSessionId>,
    /// Whether it continued an earlier conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    continued: bool,
    /// What it cost, as far as that is known.
    cost: CostTotal,
    /// The tokens that were told.
    tokens: TokenUsage,
}

impl From<ExecutionResult> for Written {
    fn from(result: ExecutionResult) -> Self {
        Self {
            success: result.is_success(),
            why: result.error(),
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

impl TryFrom<Written> for ExecutionResult {
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
        match result.is_success() == written.success {
            true => Ok(result),
            false => Err(Contradiction { end: result.end }),
        }
    }
}

/// A result that says two things.
#[derive(Debug, thiserror::Error)]
#[error("`success` contradicts the end: the execution {end}")]
struct Contradiction {
    end: ExecutionEnd,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Task;

    #[test]
    fn a_result_is_read_as_it_was_written_and_cannot_contradict_itself() {
        let task = Task::new("T-1", "Do it.").expect("an id");
        let mut result = ExecutionResult::new(&task, "codex", ExecutionEnd::Cancelled);
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
        let read: ExecutionResult = serde_json::from_value(json.clone()).expect("a result");
        assert_eq!(read, result);
        json["success"] = json!(true);
        assert!(serde_json::from_value::<ExecutionResult>(json).is_err());
    }
}
