//! The name of a task.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names one task, for example `T-001`.
///
/// An id is never empty and has no blanks around it and no control characters in it.
///
/// ```
/// use autonoe_harness::TaskId;
///
/// let id: TaskId = "T-001".parse()?;
/// assert_eq!(id.as_str(), "T-001");
/// assert!(" ".parse::<TaskId>().is_err());
/// # Ok::<(), autonoe_harness::InvalidTaskId>(())
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct TaskId(String);

impl TaskId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TaskId {
    type Err = InvalidTaskId;

    fn from_str(text: &str) -> Result<Self, InvalidTaskId> {
        let is_plain = text.trim() == text && !text.chars().any(char::is_control);
        match text.is_empty() || !is_plain {
            true => Err(InvalidTaskId(text.to_owned())),
            false => Ok(Self(text.to_owned())),
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

/// A text that names no task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} cannot name a task: it must not be empty, nor have blanks around it")]
pub struct InvalidTaskId(String);
