//! [`Failure`], the serialisable form of an error.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::excerpt::excerpt;
use crate::time::duration::millis;

/// Serialisable form of an error.
///
/// Errors of ports carry sources and are not serialisable. The run machine decides on failures, and
/// journals save them. A message of more than 16 KiB is shortened when the failure is created: its
/// beginning and its end stay, so that a failure of any origin can be stored and sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Failure {
    /// Stable name for programs, for example `authentication`.
    pub code: String,
    /// Message for humans.
    pub message: String,
    /// Advice for the operator, if the source of the failure provides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Whether a retry may help.
    pub retry: Retry,
    /// Delay before the next attempt, if the service requested one.
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

    /// Creates a failure that a retry may resolve.
    pub fn retryable(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: excerpt(message.into()),
            remedy: None,
            retry: Retry::Retryable,
            retry_after: None,
        }
    }

    /// Creates a failure that a retry cannot resolve.
    pub fn permanent(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            retry: Retry::Permanent,
            ..Self::retryable(code, message)
        }
    }

    /// Creates a failure from `error`, appending the messages of its sources.
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

/// Whether a retry may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// A retry may succeed.
    Retryable,
    /// Every retry fails until the operator changes something.
    Permanent,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::excerpt::MAX_TEXT_LEN;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct TestError(String, #[source] Option<Box<TestError>>);

    #[test]
    fn long_messages_are_shortened_by_every_constructor() {
        let long = format!("the beginning{}the end", "x".repeat(3 * 1024 * 1024));
        let error = TestError(long.clone(), Some(Box::new(TestError(long.clone(), None))));

        for failure in [
            Failure::retryable("crashed", long.clone()),
            Failure::permanent("crashed", long),
            Failure::from_error("crashed", &error, Retry::Retryable),
        ] {
            let message = failure.message;
            assert!(message.len() <= MAX_TEXT_LEN, "{}", message.len());
            assert!(message.starts_with("the beginning") && message.ends_with("the end"));
        }
    }
}
