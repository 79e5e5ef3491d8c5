//! A failure that can be written down.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duration::millis;
use super::excerpt::excerpt;

/// A failure that can be written down: what is left of an error once it has been reported.
///
/// Errors of ports carry sources and are not serialisable; a run is decided,
/// saved and resumed on these. A message of more than 16 KiB is cut when a failure is made: its
/// beginning and its end stay, so that a failure can be kept and sent whatever somebody had to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Failure {
    /// A stable name for programs, for example `authentication`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// What a person can do about it, when whoever failed knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Whether another try may help.
    pub retry: Retry,
    /// How long to wait before the next try, when the other side said so.
    #[serde(
        rename = "retryAfterMs",
        default,
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<u64>")]
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// The code of a planning session that created no deliverable.
    pub(crate) const NOTHING_PLANNED: &str = "nothing_planned";

    /// Makes a failure that another try may mend.
    pub fn retryable(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: excerpt(message.into()),
            remedy: None,
            retry: Retry::MayHelp,
            retry_after: None,
        }
    }

    /// Makes a failure that another try cannot mend.
    pub fn permanent(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            retry: Retry::Useless,
            ..Self::retryable(code, message)
        }
    }

    /// Writes down `error`, with the sentences of its sources.
    pub fn from_error(
        code: impl Into<String>,
        error: &(dyn std::error::Error + 'static),
        retry: Retry,
    ) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self {
            code: code.into(),
            message: excerpt(message),
            remedy: None,
            retry,
            retry_after: None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Whether another try may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Another try may succeed.
    MayHelp,
    /// The same try fails again until a person changes something.
    Useless,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::excerpt::LONGEST_TEXT;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Said(String, #[source] Option<Box<Said>>);

    #[test]
    fn what_was_said_at_great_length_is_cut_however_a_failure_is_made() {
        let long = format!("the beginning{}the end", "x".repeat(3 * 1024 * 1024));
        let said = Said(long.clone(), Some(Box::new(Said(long.clone(), None))));

        for failure in [
            Failure::retryable("crashed", long.clone()),
            Failure::permanent("crashed", long),
            Failure::from_error("crashed", &said, Retry::MayHelp),
        ] {
            let message = failure.message;
            assert!(message.len() <= LONGEST_TEXT, "{}", message.len());
            assert!(message.starts_with("the beginning") && message.ends_with("the end"));
        }
    }
}
