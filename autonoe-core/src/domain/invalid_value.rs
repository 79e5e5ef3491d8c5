//! Values that a builder refuses.

use std::time::Duration;

use super::{Budget, Failure, QuotaBackoff, Retry, Spent};

/// A value with which nothing could run, and the call that set it.
///
/// Builders collect values and check them when they build. The checks here are the same for
/// every builder.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_core::InvalidValue;
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
    /// Why the value is refused, and what to give instead.
    pub reason: &'static str,
}

impl InvalidValue {
    /// The code of a [`Failure`] that reports an invalid value.
    pub const CODE: &str = "invalid_value";

    /// Refuses the value that `call` set.
    pub fn new(call: &'static str, reason: &'static str) -> Self {
        Self { call, reason }
    }

    /// Refuses a blank name of a model.
    ///
    /// # Errors
    ///
    /// The name is blank.
    pub fn check_model(call: &'static str, model: Option<&str>) -> Result<(), Self> {
        let reason =
            "the name of a model is blank; name one, or leave it out for the backend's choice";
        refuse_if(is_blank(model), call, reason)
    }

    /// Refuses a blank name.
    ///
    /// # Errors
    ///
    /// The name is blank.
    pub fn check_name(call: &'static str, name: &str) -> Result<(), Self> {
        refuse_if(is_blank(Some(name)), call, "the name is blank; give one")
    }

    /// Refuses a limit of 0 turns.
    ///
    /// # Errors
    ///
    /// The limit is 0.
    pub fn check_turns(call: &'static str, turns: Option<u32>) -> Result<(), Self> {
        let reason = "it lets no agent answer; give at least 1, or leave it out for no limit";
        refuse_if(turns == Some(0), call, reason)
    }

    /// Refuses a time limit or an interval of zero.
    ///
    /// # Errors
    ///
    /// The time is zero.
    pub fn check_time(call: &'static str, time: Duration) -> Result<(), Self> {
        let reason = "in no time nothing can be done; give more";
        refuse_if(time.is_zero(), call, reason)
    }

    /// Refuses a budget in which one of the limits is zero.
    ///
    /// # Errors
    ///
    /// A limit is zero.
    pub fn check_budget(call: &'static str, budget: &Budget) -> Result<(), Self> {
        let reason = "a budget of nothing lets nothing run; give more, or leave that limit out";
        let is_spent = budget.exhausted(&Spent::default()).is_some();
        refuse_if(is_spent, call, reason)
    }

    /// Refuses a backoff without a wait.
    ///
    /// # Errors
    ///
    /// The first or the longest wait is zero.
    pub fn check_backoff(call: &'static str, backoff: &QuotaBackoff) -> Result<(), Self> {
        let reason = "without a wait the backend is asked again and again; give longer waits";
        let has_no_wait = backoff.first.is_zero() || backoff.longest.is_zero();
        refuse_if(has_no_wait, call, reason)
    }
}

impl From<&InvalidValue> for Failure {
    fn from(error: &InvalidValue) -> Self {
        Self::from_error(InvalidValue::CODE, error, Retry::Useless)
    }
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.trim().is_empty())
}

fn refuse_if(
    is_invalid: bool,
    call: &'static str,
    reason: &'static str,
) -> Result<(), InvalidValue> {
    match is_invalid {
        true => Err(InvalidValue::new(call, reason)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::CostUsd;

    #[test]
    fn only_values_with_which_nothing_could_run_are_refused() {
        const SECOND: Duration = Duration::from_secs(1);
        let budget = Budget::default();
        let backoff = |first, longest| QuotaBackoff { first, longest };
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
            (InvalidValue::check_budget("b", &budget), true),
            (
                InvalidValue::check_budget("b", &budget.with_time(SECOND)),
                true,
            ),
            (
                InvalidValue::check_budget("b", &budget.with_time(SECOND).with_tokens(0)),
                false,
            ),
            (
                InvalidValue::check_budget("b", &budget.with_cost(CostUsd::ZERO)),
                false,
            ),
            (
                InvalidValue::check_backoff("b", &backoff(SECOND, SECOND)),
                true,
            ),
            (
                InvalidValue::check_backoff("b", &backoff(Duration::ZERO, SECOND)),
                false,
            ),
            (
                InvalidValue::check_backoff("b", &backoff(SECOND, Duration::ZERO)),
                false,
            ),
        ] {
            assert_eq!(checked.is_ok(), is_valid, "{checked:?}");
        }
    }
}
