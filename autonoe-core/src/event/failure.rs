//! [`Failure`], the serialisable form of an error, and [`InvalidValue`], the error of a builder.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::excerpt;
use crate::time::millis;

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

/// An unusable value, and the builder call that set it.
///
/// Builders collect values and validate them when they build. All builders share the checks of this
/// type.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::event::InvalidValue;
///
/// let error = InvalidValue::check_time("idle_limit(0)", Duration::ZERO).expect_err("no time");
///
/// assert!(error.to_string().starts_with(".idle_limit(0): "));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error(".{call}: {reason}")]
#[non_exhaustive]
pub struct InvalidValue {
    /// The method that set the value, for example `max_turns(0)`.
    pub call: &'static str,
    /// Reason for the refusal, and a usable alternative.
    pub reason: &'static str,
}

impl InvalidValue {
    /// The code of a [`Failure`] that reports an invalid value.
    pub const CODE: &str = "invalid_value";

    /// Creates the error for the value that `call` set.
    pub fn new(call: &'static str, reason: &'static str) -> Self {
        Self { call, reason }
    }

    /// Rejects a blank model name.
    ///
    /// # Errors
    ///
    /// The name is blank.
    pub fn check_model(call: &'static str, model: Option<&str>) -> Result<(), Self> {
        let reason =
            "the name of a model is blank; name one, or leave it out for the backend's choice";
        Self::reject_if(is_blank(model), call, reason)
    }

    /// Rejects a blank name.
    ///
    /// # Errors
    ///
    /// The name is blank.
    pub fn check_name(call: &'static str, name: &str) -> Result<(), Self> {
        Self::reject_if(is_blank(Some(name)), call, "the name is blank; give one")
    }

    /// Rejects a limit of 0 turns.
    ///
    /// # Errors
    ///
    /// The limit is 0.
    pub fn check_turns(call: &'static str, turns: Option<u32>) -> Result<(), Self> {
        let reason =
            "with 0 turns no agent could answer; give at least 1, or leave it out for no limit";
        Self::reject_if(turns == Some(0), call, reason)
    }

    /// Rejects a time limit or an interval of zero.
    ///
    /// # Errors
    ///
    /// The time is zero.
    pub fn check_time(call: &'static str, time: Duration) -> Result<(), Self> {
        let reason = "the duration is 0; give a longer one";
        Self::reject_if(time.is_zero(), call, reason)
    }

    /// Rejects the value that `call` set if `is_invalid`.
    pub(crate) fn reject_if(
        is_invalid: bool,
        call: &'static str,
        reason: &'static str,
    ) -> Result<(), Self> {
        if is_invalid {
            return Err(Self::new(call, reason));
        }
        Ok(())
    }
}

impl From<&InvalidValue> for Failure {
    fn from(error: &InvalidValue) -> Self {
        Self::from_error(InvalidValue::CODE, error, Retry::Permanent)
    }
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::MAX_TEXT_LEN;

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

    #[test]
    fn only_unusable_values_are_rejected() {
        const SECOND: Duration = Duration::from_secs(1);
        for (checked, is_valid) in [
            (InvalidValue::check_model("m", None), true),
            (InvalidValue::check_model("m", Some("opus")), true),
            (InvalidValue::check_model("m", Some(" \n")), false),
            (InvalidValue::check_name("n", "a"), true),
            (InvalidValue::check_name("n", ""), false),
            (InvalidValue::check_turns("t", None), true),
            (InvalidValue::check_turns("t", Some(1)), true),
            (InvalidValue::check_turns("t", Some(0)), false),
            (InvalidValue::check_time("t", SECOND), true),
            (InvalidValue::check_time("t", Duration::ZERO), false),
        ] {
            assert_eq!(checked.is_ok(), is_valid, "{checked:?}");
        }
    }
}
