//! [`InvalidValue`], the error of a builder that was given an unusable value.

use std::time::Duration;

use crate::event::{Failure, Retry};

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
