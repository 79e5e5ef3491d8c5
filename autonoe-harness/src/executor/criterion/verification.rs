//! Outcome of verifying a criterion.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Outcome of verifying the criteria of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verification", rename_all = "snake_case")]
pub enum Verification {
    /// The criterion holds.
    Passed {
        /// The reason, in a sentence for people.
        reason: String,
        /// The number of passed tests, if any were counted.
        #[serde(
            default,
            rename = "testsPassed",
            skip_serializing_if = "Option::is_none"
        )]
        tests_passed: Option<u64>,
        /// The number of criteria that hold: 1, or the number among the parts of `all` and `any`.
        #[serde(
            default = "one",
            rename = "criteriaPassed",
            skip_serializing_if = "is_one"
        )]
        criteria_passed: u64,
    },
    /// The criterion does not hold.
    Failed {
        /// Reason, in a sentence for people.
        reason: String,
    },
    /// The criterion could not be verified, which is not a success.
    Unverified {
        /// Reason, in a sentence for people.
        reason: String,
    },
}

impl Verification {
    /// Creates a success.
    pub fn passed(reason: impl Into<String>) -> Self {
        Self::Passed {
            reason: reason.into(),
            tests_passed: None,
            criteria_passed: 1,
        }
    }

    /// Creates a success that is based on this number of passed tests.
    pub fn passed_tests(reason: impl Into<String>, tests: u64) -> Self {
        Self::Passed {
            reason: reason.into(),
            tests_passed: Some(tests),
            criteria_passed: 1,
        }
    }

    /// Creates a failure.
    pub fn failed(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Failed { reason }
    }

    /// Creates an outcome that is neither a success nor a failure.
    pub fn unverified(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Unverified { reason }
    }

    /// Returns whether the criterion holds.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Passed { .. })
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        match self {
            Self::Passed { reason, .. } | Self::Failed { reason } | Self::Unverified { reason } => {
                reason
            }
        }
    }

    /// Returns the number of passed tests, if the criterion holds and any were counted.
    pub fn tests_passed(&self) -> Option<u64> {
        match self {
            Self::Passed { tests_passed, .. } => *tests_passed,
            Self::Failed { .. } | Self::Unverified { .. } => None,
        }
    }

    /// Returns the number of criteria that hold, counting the parts of `all` and `any` one by one;
    /// 0 unless the criterion holds as a whole.
    pub fn criteria_passed(&self) -> u64 {
        match self {
            Self::Passed {
                criteria_passed, ..
            } => *criteria_passed,
            Self::Failed { .. } | Self::Unverified { .. } => 0,
        }
    }

    /// Combines the outcomes of parts that must all hold.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::merge_highest(parts, |part| match part {
            Self::Failed { .. } => 2,
            Self::Unverified { .. } => 1,
            Self::Passed { .. } => 0,
        })
    }

    /// Combines the outcomes of parts of which one must hold.
    pub(super) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::merge_highest(parts, |part| match part {
            Self::Passed { .. } => 2,
            Self::Unverified { .. } => 1,
            Self::Failed { .. } => 0,
        })
    }

    /// Merges the parts of the highest rank into one outcome, with the reasons of all of them.
    fn merge_highest(parts: impl IntoIterator<Item = Self>, rank: fn(&Self) -> u8) -> Self {
        let parts: Vec<Self> = parts.into_iter().collect();
        let Some(highest) = parts.iter().map(rank).max() else {
            return Self::unverified("there is nothing to check");
        };
        let merged: Vec<&Self> = parts.iter().filter(|part| rank(part) == highest).collect();
        let reasons: Vec<&str> = merged.iter().map(|part| part.reason()).collect();
        let reason = reasons.join("; ");
        let counts = merged.iter().filter_map(|part| part.tests_passed());
        match merged.first() {
            Some(Self::Passed { .. }) => Self::Passed {
                reason,
                tests_passed: counts.reduce(u64::saturating_add),
                criteria_passed: merged.iter().map(|part| part.criteria_passed()).sum(),
            },
            Some(Self::Failed { .. }) => Self::failed(reason),
            _ => Self::unverified(reason),
        }
    }
}

fn one() -> u64 {
    1
}

fn is_one(count: &u64) -> bool {
    *count == 1
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Passed { .. } => "passed",
            Self::Failed { .. } => "failed",
            Self::Unverified { .. } => "not verified",
        };
        write!(f, "{word}: {}", self.reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_several_that_hold_are_counted_together() {
        let (two, three) = (
            Verification::passed_tests("a", 2),
            Verification::passed_tests("b", 3),
        );
        let (plain, failed) = (Verification::passed("c"), Verification::failed("d"));

        for (parts, counted) in [
            (vec![plain.clone(), two.clone(), three], Some(5)),
            (vec![plain], None),
            (vec![two, failed], None),
        ] {
            assert_eq!(Verification::all(parts).tests_passed(), counted);
        }
    }

    #[test]
    fn criteria_that_hold_are_counted_one_by_one() {
        let (passed, failed) = (Verification::passed("p"), Verification::failed("f"));
        let two = Verification::all([passed.clone(), passed.clone()]);

        for (verification, counted) in [
            (passed.clone(), 1),
            (two.clone(), 2),
            (Verification::any([two.clone(), passed, failed.clone()]), 3),
            (Verification::all([two, failed.clone()]), 0),
            (failed, 0),
        ] {
            assert_eq!(verification.criteria_passed(), counted, "{verification}");
            let json = serde_json::to_value(&verification).expect("it is written");
            let read: Verification = serde_json::from_value(json).expect("it is read");
            assert_eq!(read, verification);
        }
    }

    // Shows: fleets/executor/verify-success
    #[test]
    fn an_unverified_part_never_counts_as_success() {
        let (passed, failed, unknown) = (
            || Verification::passed("p"),
            || Verification::failed("f"),
            || Verification::unverified("u"),
        );
        for (parts, all, any) in [
            (
                vec![],
                "not verified: there is nothing to check",
                "not verified: there is nothing to check",
            ),
            (vec![passed(), passed()], "passed: p; p", "passed: p; p"),
            (vec![passed(), failed()], "failed: f", "passed: p"),
            (vec![passed(), unknown()], "not verified: u", "passed: p"),
            (vec![failed(), unknown()], "failed: f", "not verified: u"),
            (vec![failed(), failed()], "failed: f; f", "failed: f; f"),
            (vec![unknown()], "not verified: u", "not verified: u"),
        ] {
            assert_eq!(Verification::all(parts.clone()).to_string(), all);
            assert_eq!(Verification::any(parts).to_string(), any);
        }
    }
}
