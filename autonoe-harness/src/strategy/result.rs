//! Results of members, and the verdict of a strategy.

use std::fmt;
use std::time::Duration;

use autonoe_core::agent::{BudgetUsage, CostTotal, TokenUsage};
use autonoe_core::engine::{RunEnding, RunOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::BudgetedKind;
use crate::isolation::WorkLocation;

/// ID of a fleet member, and the name of its folder. Unique per coordinator.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct MemberId(String);

impl MemberId {
    /// Creates an ID from `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the ID as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Result of a fleet member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MemberReport {
    /// The ID of the member.
    pub id: MemberId,
    /// Whether its work is done and verified.
    pub success: bool,
    /// Its final output.
    pub output: String,
    /// The reason of a failure.
    pub error: Option<String>,
    /// The progress, from 0 to 1.
    pub progress: f64,
    /// The number of tests that passed at last, if any were counted.
    pub tests_passed: Option<u64>,
    /// Deliverables that have passed in the ledger of its folder.
    #[serde(default)]
    pub deliverables_passed: u64,
    /// Success criteria that held at the last check of each task. Parts of `all` and `any` count one
    /// by one.
    #[serde(default)]
    pub criteria_passed: u64,
    /// The number of its failed attempts.
    pub failures: u32,
    /// Its working time.
    #[serde(rename = "durationMs", with = "autonoe_core::time::millis")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// Its cost.
    pub cost: CostTotal,
    /// The tokens that it used, as far as they were reported.
    #[serde(default)]
    pub tokens: TokenUsage,
    /// The kind of budget that was exhausted when it failed; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<BudgetedKind>,
    /// The locations of its work that was not merged.
    #[serde(default, alias = "kept", skip_serializing_if = "Vec::is_empty")]
    pub unmerged_work: Vec<WorkLocation>,
}

impl MemberReport {
    /// Creates the result of a member whose work is done.
    pub fn success(id: MemberId, output: impl Into<String>) -> Self {
        Self {
            id,
            success: true,
            output: output.into(),
            error: None,
            progress: 1.0,
            tests_passed: None,
            deliverables_passed: 0,
            criteria_passed: 0,
            failures: 0,
            duration: Duration::ZERO,
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
            exhausted: None,
            unmerged_work: Vec::new(),
        }
    }

    /// Creates the result of a member that failed.
    pub fn failure(id: MemberId, error: impl Into<String>) -> Self {
        Self {
            success: false,
            error: Some(error.into()),
            progress: 0.0,
            ..Self::success(id, String::new())
        }
    }

    /// Creates the result of a member from the outcome of its run.
    ///
    /// A run that failed or was cancelled is not a success, whatever its output claims.
    pub(crate) fn from_outcome(id: &MemberId, outcome: &RunOutcome) -> Self {
        let parsed = Self::deserialize(&outcome.output).ok();
        let error = match &outcome.ending {
            RunEnding::Succeeded => None,
            RunEnding::Failed { failure } => Some(failure.message.clone()),
            RunEnding::Cancelled { reason } => Some(reason.clone()),
        };
        let mut result = match (parsed, &error) {
            (Some(parsed), _) => Self {
                id: id.clone(),
                ..parsed
            },
            (None, None) => Self {
                duration: outcome.spent.time,
                cost: outcome.spent.cost,
                ..Self::success(id.clone(), text(&outcome.output))
            },
            (None, Some(error)) => Self {
                duration: outcome.spent.time,
                cost: outcome.spent.cost,
                failures: 1,
                output: text(&outcome.output),
                ..Self::failure(id.clone(), error)
            },
        };
        result.tokens = outcome.spent.tokens;
        if let Some(error) = error {
            result.success = false;
            result.error.get_or_insert(error);
        }
        result
    }

    /// Creates the result of a lost member. Its cost is unknown, which is not the same as zero.
    pub(crate) fn lost(id: MemberId, error: impl Into<String>) -> Self {
        Self {
            cost: CostTotal::unknown(),
            ..Self::failure(id, error)
        }
    }
}

/// Returns the total spending of members, as far as it is known. Working times are added up.
pub(crate) fn spent_by<'r>(results: impl IntoIterator<Item = &'r MemberReport>) -> BudgetUsage {
    let mut spent = BudgetUsage::default();
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

/// Verdict of a strategy about its fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Whether it succeeded.
    pub success: bool,
    /// The winning member, if there is one.
    pub winner: Option<MemberId>,
    /// The joined output, or that of the winner.
    pub output: Option<String>,
}

impl Decision {
    /// Creates the verdict of a failed fleet.
    pub fn failed() -> Self {
        Self {
            success: false,
            winner: None,
            output: None,
        }
    }

    /// Creates the verdict that one member has won.
    pub fn won_by(result: &MemberReport) -> Self {
        Self {
            success: true,
            winner: Some(result.id.clone()),
            output: Some(result.output.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::CostUsd;
    use autonoe_core::event::Failure;
    use serde_json::json;

    use super::*;

    fn id() -> MemberId {
        MemberId::new("a")
    }

    #[test]
    fn an_output_that_is_a_result_is_used_unchanged() {
        let mut reported = MemberReport::success(MemberId::new("another"), "done");
        reported.tests_passed = Some(7);
        let outcome = RunOutcome::succeeded(serde_json::to_value(&reported).expect("data"));

        let result = MemberReport::from_outcome(&id(), &outcome);

        reported.id = id();
        assert_eq!(result, reported);
    }

    #[test]
    fn a_failed_or_cancelled_run_is_no_success_whatever_its_output_claims() {
        let reported = MemberReport::success(id(), "done");
        let reported = serde_json::to_value(reported).expect("data");
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
            for outcome in [outcome.clone(), outcome.with_output(reported.clone())] {
                let result = MemberReport::from_outcome(&id(), &outcome);

                assert!(!result.success, "{outcome:?}");
                assert_eq!(result.error.as_deref(), Some(error));
            }
        }
    }

    #[test]
    fn a_run_that_succeeded_with_a_result_that_did_not_is_no_success() {
        let reported = MemberReport::failure(id(), "two tests fail");
        let outcome = RunOutcome::succeeded(serde_json::to_value(&reported).expect("data"));

        assert_eq!(MemberReport::from_outcome(&id(), &outcome), reported);
    }

    #[test]
    fn tokens_are_those_of_the_run_whatever_its_output() {
        let reported = serde_json::to_value(MemberReport::success(id(), "done")).expect("data");
        let spent = BudgetUsage {
            tokens: used(7),
            ..BudgetUsage::default()
        };
        for outcome in [
            RunOutcome::succeeded(reported),
            RunOutcome::succeeded(json!("done")),
            RunOutcome::cancelled("enough"),
        ] {
            let result = MemberReport::from_outcome(&id(), &outcome.with_spent(spent));

            assert_eq!(result.tokens, used(7));
        }
    }

    #[test]
    fn the_spending_of_a_lost_member_is_unknown() {
        let cents = CostTotal::known(CostUsd::from_cents(30));
        let reported = MemberReport {
            cost: cents,
            tokens: used(7),
            ..MemberReport::success(id(), "done")
        };

        let all = spent_by([&reported, &reported]);
        let with_one_lost = spent_by([&reported, &MemberReport::lost(id(), "gone")]);

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
            let result = MemberReport::from_outcome(&id(), &RunOutcome::succeeded(output));

            assert!(result.success);
            assert_eq!(result.output, text);
        }
    }
}
