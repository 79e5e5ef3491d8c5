//! Warnings, in words.

use crate::wire::{ApiRetry, ResultMessage};

/// Says that a call of the model is made again.
pub(super) fn retry(retry: &ApiRetry<'_>) -> String {
    let error = retry.error.as_deref().unwrap_or("no reason told");
    let failed = match retry.error_status {
        Some(status) => format!("the model's service answered {status} ({error})"),
        None => format!("a call of the model failed ({error})"),
    };
    let again = match (retry.attempt, retry.max_retries) {
        (Some(attempt), Some(most)) => format!("retry {attempt} of {most}"),
        (Some(attempt), None) => format!("retry {attempt}"),
        (None, _) => "retry".to_owned(),
    };
    match retry.retry_delay_ms {
        Some(delay) => format!("{failed}; {again} in {:.1} s", delay / 1000.0),
        None => format!("{failed}; {again}"),
    }
}

/// Says what is odd about the end of a turn that succeeded, if anything is.
pub(super) fn odd_end(result: &ResultMessage<'_>) -> Option<&'static str> {
    let stopped = result.terminal_reason.as_deref() == Some("hook_stopped");
    stopped.then_some("a hook ended the turn before the agent was done")
}

/// What a call is told to have given that has no result when its session ends.
pub(super) const UNANSWERED: &str = "the session ended before the call did";
