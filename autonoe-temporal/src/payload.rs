//! Size limits of payloads.
//!
//! The server rejects payloads above two megabytes with an unhelpful error: a run whose result is
//! rejected appears to have lost its worker. Therefore payloads are checked here, with a clear
//! message.

use autonoe_core::engine::RunOutcome;
use autonoe_core::event::Failure;
use serde::Serialize;
use serde_json::Value;

/// Maximum bytes of one value. The input of a workflow contains the run twice, and its memo
/// contains it once more.
pub(crate) const MAX_PAYLOAD: usize = 768 * 1024;

/// Maximum bytes of undelivered messages of a run, because they all go into one session.
pub(crate) const MAX_UNDELIVERED: usize = 256 * 1024;

/// Returns a message if a value is too large to send.
pub(crate) fn too_large(name: &str, value: &impl Serialize) -> Option<String> {
    let size = size(value);
    (size > MAX_PAYLOAD).then(|| {
        format!(
            "{name} has {size} bytes, and at most {MAX_PAYLOAD} can be sent: refer to large \
             files by their path"
        )
    })
}

/// Returns an outcome that can be sent. A success whose result is too large becomes a failure,
/// because the client cannot receive the result.
pub(crate) fn bounded(outcome: RunOutcome) -> RunOutcome {
    let Some(reason) = too_large("the outcome of the run", &outcome) else {
        return outcome;
    };
    let failed = Failure::permanent("output_too_large", reason);
    let without_output = outcome.with_output(Value::Null);
    if without_output.is_success() || size(&without_output) > MAX_PAYLOAD {
        let mut outcome = RunOutcome::failed(failed).with_spent(without_output.spent);
        outcome.sessions = without_output.sessions;
        outcome
    } else {
        // A failure or cancellation and its reason matter more than the output.
        without_output
    }
}

fn size(value: &impl Serialize) -> usize {
    // An invalid value is rejected where it is sent.
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::BudgetUsage;
    use autonoe_core::engine::RunEnding;
    use serde_json::json;

    use super::*;

    #[test]
    fn small_outcome_is_unchanged() {
        let outcome = RunOutcome::succeeded(json!("done"));

        assert_eq!(bounded(outcome.clone()), outcome);
    }

    #[test]
    fn oversized_output_fails_the_run() {
        let spent = BudgetUsage {
            time: std::time::Duration::from_secs(7),
            ..BudgetUsage::default()
        };
        let much = RunOutcome::succeeded(json!("x".repeat(MAX_PAYLOAD)));

        let outcome = bounded(much.with_spent(spent).with_sessions(3));

        let RunEnding::Failed { failure } = &outcome.ending else {
            panic!("{outcome:?}");
        };
        assert_eq!(failure.code, "output_too_large");
        assert!(failure.message.contains("786432"), "{}", failure.message);
        assert_eq!((outcome.spent, outcome.sessions), (spent, Some(3)));
        assert!(size(&outcome) < 1000);
    }

    #[test]
    fn cancelled_run_drops_oversized_output() {
        let much = json!("x".repeat(MAX_PAYLOAD));

        let outcome = bounded(RunOutcome::cancelled("enough").with_output(much));

        assert_eq!(outcome, RunOutcome::cancelled("enough"));
    }
}
