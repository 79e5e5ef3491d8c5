//! What a run says of its member.

use autonoe_core::{RunEnding, RunOutcome, Spent};
use serde::Deserialize;
use serde_json::Value;

use crate::{HarnessId, HarnessResult};

/// Makes the result of a member of what its run came to.
///
/// A run that failed or was cancelled is no success, whatever its output says.
pub(super) fn result_of(id: &HarnessId, outcome: &RunOutcome) -> HarnessResult {
    let told = HarnessResult::deserialize(&outcome.output).ok();
    let error = match &outcome.ending {
        RunEnding::Succeeded => None,
        RunEnding::Failed { failure } => Some(failure.message.clone()),
        RunEnding::Cancelled { reason } => Some(reason.clone()),
    };
    let mut result = match (told, &error) {
        (Some(told), _) => HarnessResult {
            id: id.clone(),
            ..told
        },
        (None, None) => HarnessResult {
            duration: outcome.spent.time,
            cost: outcome.spent.cost,
            ..HarnessResult::success(id.clone(), text(&outcome.output))
        },
        (None, Some(error)) => HarnessResult {
            duration: outcome.spent.time,
            cost: outcome.spent.cost,
            failures: 1,
            output: text(&outcome.output),
            ..HarnessResult::failure(id.clone(), error)
        },
    };
    result.tokens = outcome.spent.tokens;
    if let Some(error) = error {
        result.success = false;
        result.error.get_or_insert(error);
    }
    result
}

/// Returns what members spent together, as far as it is known. The time is that of each, one after
/// another.
pub(super) fn spent_by<'r>(results: impl IntoIterator<Item = &'r HarnessResult>) -> Spent {
    let mut spent = Spent::default();
    for result in results {
        spent.cost.merge(result.cost);
        spent.tokens += result.tokens;
        spent.time = spent.time.saturating_add(result.duration);
    }
    spent
}

fn text(output: &Value) -> String {
    match output {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{CostTotal, CostUsd, Failure, TokenUsage};
    use serde_json::json;

    use super::*;

    fn id() -> HarnessId {
        HarnessId::new("a")
    }

    #[test]
    fn an_output_that_is_a_result_is_taken_as_it_is() {
        let mut told = HarnessResult::success(HarnessId::new("another"), "done");
        told.tests_passed = Some(7);
        let outcome = RunOutcome::succeeded(serde_json::to_value(&told).expect("data"));

        let result = result_of(&id(), &outcome);

        told.id = id();
        assert_eq!(result, told);
    }

    #[test]
    fn what_failed_or_was_cancelled_is_no_success_whatever_it_says() {
        let told = HarnessResult::success(id(), "done");
        let told = serde_json::to_value(told).expect("data");
        for (outcome, error) in [
            (
                RunOutcome::failed(Failure::permanent("broke", "it broke")),
                "it broke",
            ),
            (
                RunOutcome::cancelled("another was first"),
                "another was first",
            ),
        ] {
            for outcome in [outcome.clone(), outcome.with_output(told.clone())] {
                let result = result_of(&id(), &outcome);

                assert!(!result.success, "{outcome:?}");
                assert_eq!(result.error.as_deref(), Some(error));
            }
        }
    }

    #[test]
    fn a_run_that_succeeded_with_a_result_that_did_not_is_no_success() {
        let told = HarnessResult::failure(id(), "two tests fail");
        let outcome = RunOutcome::succeeded(serde_json::to_value(&told).expect("data"));

        assert_eq!(result_of(&id(), &outcome), told);
    }

    #[test]
    fn tokens_are_those_of_the_run_whatever_it_gave() {
        let told = serde_json::to_value(HarnessResult::success(id(), "done")).expect("data");
        let spent = Spent {
            tokens: used(7),
            ..Spent::default()
        };
        for outcome in [
            RunOutcome::succeeded(told),
            RunOutcome::succeeded(json!("done")),
            RunOutcome::cancelled("enough"),
        ] {
            let result = result_of(&id(), &outcome.with_spent(spent));

            assert_eq!(result.tokens, used(7));
        }
    }

    #[test]
    fn members_spend_what_each_told_and_what_nobody_knows() {
        let cents = CostTotal::known(CostUsd::from_cents(30));
        let told = HarnessResult {
            cost: cents,
            tokens: used(7),
            ..HarnessResult::success(id(), "done")
        };

        let all = spent_by([&told, &told]);
        let with_one_lost = spent_by([&told, &HarnessResult::lost(id(), "gone")]);

        assert_eq!(all.cost, CostTotal::known(CostUsd::from_cents(60)));
        assert_eq!(all.tokens, used(14));
        assert_eq!(with_one_lost.cost, CostTotal::at_least(cents.known_usd));
        assert_eq!(with_one_lost.tokens, used(7));
    }

    fn used(input: u64) -> TokenUsage {
        TokenUsage {
            input,
            ..TokenUsage::default()
        }
    }

    #[test]
    fn other_outputs_become_text() {
        for (output, text) in [
            (Value::Null, ""),
            (json!("done"), "done"),
            (json!({"a": 1}), r#"{"a":1}"#),
        ] {
            let result = result_of(&id(), &RunOutcome::succeeded(output));

            assert!(result.success);
            assert_eq!(result.output, text);
        }
    }
}
