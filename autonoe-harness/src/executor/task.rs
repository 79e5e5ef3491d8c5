//! Task: a goal, its context and its success criteria.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::criterion::{SuccessCriteria, criteria_schema};

/// Default time limit of a task, in seconds.
const HALF_AN_HOUR: u64 = 30 * 60;

/// A unit of work: a goal for an agent, and the criteria by which it is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Task {
    /// The ID of the task.
    pub id: TaskId,
    /// A short description for people. Agents do not see it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The goal of the agent.
    pub goal: String,
    /// Background information for the agent.
    #[serde(
        default,
        deserialize_with = "none_if_blank",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<String>,
    /// The criteria that must hold afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "criteria_schema")]
    pub success_criteria: Option<SuccessCriteria>,
    /// The time limit in seconds, for all turns together; 1800 by default.
    #[serde(default = "default_timeout_seconds")]
    pub timeout_seconds: u64,
    /// The working folder, relative to the folder of the executor and inside of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The name of the executor; the default executor if `None`.
    #[serde(
        default,
        deserialize_with = "none_if_blank",
        skip_serializing_if = "Option::is_none"
    )]
    pub cli: Option<String>,
    /// The model; that of the executor if `None`.
    #[serde(
        default,
        deserialize_with = "none_if_blank",
        skip_serializing_if = "Option::is_none"
    )]
    pub model: Option<String>,
}

fn default_timeout_seconds() -> u64 {
    HALF_AN_HOUR
}

/// Reads a blank string as `None`, so that it overrides nothing.
fn none_if_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.trim().is_empty()))
}

impl Task {
    /// Creates a task from an ID and a goal.
    ///
    /// # Errors
    ///
    /// The ID is empty, or has blanks around it or control characters in it.
    pub fn new(id: &str, goal: impl Into<String>) -> Result<Self, InvalidTaskId> {
        Ok(Self {
            id: id.parse()?,
            description: String::new(),
            goal: goal.into(),
            context: None,
            success_criteria: None,
            timeout_seconds: HALF_AN_HOUR,
            cwd: None,
            cli: None,
            model: None,
        })
    }

    /// Sets a short description for people.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// Sets background information for the agent.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// Sets the criteria that must hold afterwards.
    #[must_use]
    pub fn success_criteria(mut self, criteria: impl Into<SuccessCriteria>) -> Self {
        self.success_criteria = Some(criteria.into());
        self
    }

    /// Sets the time limit, rounded up to seconds.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout_seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        self
    }

    /// Sets the working folder.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Sets the executor.
    #[must_use]
    pub fn cli(mut self, name: impl Into<String>) -> Self {
        self.cli = Some(name.into());
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Returns the time limit.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    /// Validates the task.
    ///
    /// # Errors
    ///
    /// Lists all problems of the task.
    pub fn validate(&self) -> Result<(), InvalidTask> {
        let mut problems = Vec::new();
        if self.goal.trim().is_empty() {
            problems.push("its goal is empty".to_owned());
        }
        if self.timeout_seconds == 0 {
            problems.push("its timeoutSeconds is 0; write at least 1".to_owned());
        }
        for (field, text) in [("cli", &self.cli), ("model", &self.model)] {
            if text
                .as_deref()
                .is_some_and(|text| text.trim() != text || text.is_empty())
            {
                problems.push(format!("its {field} is empty or has spaces around it"));
            }
        }
        if let Some(criteria) = &self.success_criteria {
            let found = criteria.problems();
            problems.extend(
                found
                    .into_iter()
                    .map(|problem| format!("in its success criteria, {problem}")),
            );
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(InvalidTask {
                task: self.id.clone(),
                problems,
            })
        }
    }
}

/// Error of a task that cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task {task} is invalid: {}", .problems.join("; "))]
#[non_exhaustive]
pub struct InvalidTask {
    /// The task.
    pub task: TaskId,
    /// All problems of the task.
    pub problems: Vec<String>,
}

/// ID of a task, for example `T-001`.
///
/// An ID is never empty, has no blanks around it and contains no control characters.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TaskId(String);

impl TaskId {
    /// Returns the ID as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TaskId {
    type Err = InvalidTaskId;

    fn from_str(text: &str) -> Result<Self, InvalidTaskId> {
        let is_plain = text.trim() == text && !text.chars().any(char::is_control);
        if text.is_empty() || !is_plain {
            Err(InvalidTaskId(text.to_owned()))
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl TryFrom<String> for TaskId {
    type Error = InvalidTaskId;

    fn try_from(text: String) -> Result<Self, InvalidTaskId> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error of a text that is not a task ID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid task id: it must not be empty or have spaces around it")]
pub struct InvalidTaskId(String);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::executor::{AllOf, CommandCriterion, FileCriterion};

    #[test]
    fn a_task_is_read_as_it_was_written() {
        let task = Task::new("T-1", "Do it.")
            .expect("an id")
            .description("it")
            .context("Know this.")
            .success_criteria(AllOf::new([
                "It looks good.".into(),
                FileCriterion::new("out.txt").into(),
            ]))
            .timeout(Duration::from_millis(1500))
            .cwd("sub")
            .cli("codex")
            .model("gpt-5.5");

        let json = serde_json::to_value(&task).expect("it serialises");

        assert_eq!(
            json,
            json!({
                "id": "T-1", "description": "it", "goal": "Do it.", "context": "Know this.",
                "successCriteria": {"type": "all", "criteria": [
                    "It looks good.", {"type": "file", "path": "out.txt"}]},
                "timeoutSeconds": 2, "cwd": "sub", "cli": "codex", "model": "gpt-5.5",
            })
        );
        assert_eq!(serde_json::from_value::<Task>(json).expect("a task"), task);
    }

    #[test]
    fn missing_fields_have_defaults_and_an_empty_override_overrides_nothing() {
        let json = json!({"id": "T-1", "goal": "Do it.", "cli": "", "model": " ", "context": ""});

        let task: Task = serde_json::from_value(json).expect("a task");

        assert_eq!(task, Task::new("T-1", "Do it.").expect("an id"));
        assert_eq!(task.time(), Duration::from_secs(1800));
    }

    #[test]
    fn a_mistake_is_no_task() {
        for mistake in [
            json!({"goal": "Do it."}),
            json!({"id": "", "goal": "Do it."}),
            json!({"id": "T-1"}),
            json!({"id": "T-1", "goal": "Do it.", "timeout": 5}),
            json!({"id": "T-1", "goal": "Do it.", "timeoutSeconds": -5}),
            json!({"id": "T-1", "goal": "Do it.", "successCriteria": {"type": "nobody-knows"}}),
            json!({"id": "T-1", "goal": "Do it.", "successCriteria": {"type": "file"}}),
        ] {
            assert!(
                serde_json::from_value::<Task>(mistake.clone()).is_err(),
                "{mistake}"
            );
        }
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let mut task = Task::new("T-1", " \n")
            .expect("an id")
            .cli(" codex")
            .success_criteria(CommandCriterion::new(Vec::<String>::new()));
        task.timeout_seconds = 0;

        let error = task.validate().expect_err("it is wrong");

        assert_eq!(error.problems.len(), 4, "{error}");
        assert!(
            error.to_string().starts_with("the task T-1 is invalid: "),
            "{error}"
        );
    }
}
