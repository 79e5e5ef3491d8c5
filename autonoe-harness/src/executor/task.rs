//! What is to be done.

use std::path::PathBuf;
use std::time::Duration;

use autonoe_core::spec_schema;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::criterion::{CRITERION_PORT, SuccessCriteria};
use super::{InvalidTaskId, TaskId};

/// How long a task may take that does not say so.
const HALF_AN_HOUR: u64 = 30 * 60;

/// What is to be done, and how it is known to be done.
///
/// ```
/// use autonoe_harness::{CommandCriterion, Task};
///
/// let task = Task::new("T-001", "Add a login page.")?
///     .description("login")
///     .context("The design is in docs/login.md.")
///     .success(CommandCriterion::new(["cargo", "test"]))
///     .model("gpt-5.5");
///
/// let json = serde_json::to_value(&task).expect("it serialises");
/// assert_eq!(json["successCriteria"]["type"], "command");
/// assert!(task.validate().is_ok());
/// # Ok::<(), autonoe_harness::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// What it is about, in a line for people. Agents are not told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What the agent is to reach.
    pub goal: String,
    /// What it should know for that.
    #[serde(
        default,
        deserialize_with = "none_if_blank",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<String>,
    /// What must hold afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "criteria")]
    pub success_criteria: Option<SuccessCriteria>,
    /// How many seconds it may take, all turns together; 1800 by default.
    #[serde(default = "half_an_hour")]
    pub timeout_seconds: u64,
    /// The folder that it is done in, from the folder of the executor, which it is inside of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The executor that does it, by name; the usual one by default.
    #[serde(
        default,
        deserialize_with = "none_if_blank",
        skip_serializing_if = "Option::is_none"
    )]
    pub cli: Option<String>,
    /// The model; that of the executor by default.
    #[serde(
        default,
        deserialize_with = "none_if_blank",
        skip_serializing_if = "Option::is_none"
    )]
    pub model: Option<String>,
}

fn half_an_hour() -> u64 {
    HALF_AN_HOUR
}

/// Reads an empty text as none: an override that overrides nothing.
fn none_if_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.trim().is_empty()))
}

/// In words, or as one of the criteria that this program knows.
fn criteria(generator: &mut SchemaGenerator) -> Schema {
    let spec = spec_schema(CRITERION_PORT, generator);
    json_schema!({"anyOf": [{"type": "string"}, spec, {"type": "null"}]})
}

impl Task {
    /// Makes a task of a name and what is to be reached.
    ///
    /// # Errors
    ///
    /// The name is empty or has blanks around it.
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

    /// Says what it is about, in a line for people.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// Says what the agent should know.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// Says what must hold afterwards.
    #[must_use]
    pub fn success(mut self, criteria: impl Into<SuccessCriteria>) -> Self {
        self.success_criteria = Some(criteria.into());
        self
    }

    /// Sets how long it may take, to the second above.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout_seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        self
    }

    /// Sets the folder that it is done in.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Sets the executor that does it.
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

    /// Returns how long it may take.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    /// Tells whether it can be carried out.
    ///
    /// # Errors
    ///
    /// It cannot; all that is wrong with it is listed.
    pub fn validate(&self) -> Result<(), InvalidTask> {
        let mut problems = Vec::new();
        if self.goal.trim().is_empty() {
            problems.push("its goal is empty".to_owned());
        }
        if self.timeout_seconds == 0 {
            problems.push("its timeoutSeconds is 0, and nothing can be done in no time".to_owned());
        }
        for (field, text) in [("cli", &self.cli), ("model", &self.model)] {
            if text
                .as_deref()
                .is_some_and(|text| text.trim() != text || text.is_empty())
            {
                problems.push(format!("its {field} is empty or has blanks around it"));
            }
        }
        if let Some(criteria) = &self.success_criteria {
            let found = criteria.problems();
            problems.extend(
                found
                    .into_iter()
                    .map(|problem| format!("of its success criteria, {problem}")),
            );
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(InvalidTask {
                task: self.id.clone(),
                problems,
            }),
        }
    }
}

/// A task that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task {task} cannot be carried out: {}", .problems.join("; "))]
#[non_exhaustive]
pub struct InvalidTask {
    /// The task.
    pub task: TaskId,
    /// All that is wrong with it.
    pub problems: Vec<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{AllOf, CommandCriterion, FileCriterion};

    #[test]
    fn a_task_is_read_as_it_was_written() {
        let task = Task::new("T-1", "Do it.")
            .expect("an id")
            .description("it")
            .context("Know this.")
            .success(AllOf::new([
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
    fn what_is_left_out_is_as_usual_and_an_empty_override_overrides_nothing() {
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
    fn all_that_is_wrong_is_told_at_once() {
        let mut task = Task::new("T-1", " \n")
            .expect("an id")
            .cli(" codex")
            .success(CommandCriterion::new(Vec::<String>::new()));
        task.timeout_seconds = 0;

        let error = task.validate().expect_err("it is wrong");

        assert_eq!(error.problems.len(), 4, "{error}");
        assert!(
            error.to_string().starts_with("the task T-1 cannot"),
            "{error}"
        );
    }
}
