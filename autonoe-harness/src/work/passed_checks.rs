//! Counts of what the checks of a run found to hold.

use std::collections::BTreeMap;

use crate::{TaskId, Verification};

/// Counts of what the last successful check of each task found to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PassedChecks {
    tests: Option<u64>,
    criteria: BTreeMap<TaskId, u64>,
}

impl PassedChecks {
    /// Adds a check of a task. A check that did not succeed counts nothing.
    pub(super) fn add(&mut self, task: &TaskId, verification: &Verification) {
        if !verification.is_success() {
            return;
        }
        self.tests = verification.tests_passed().or(self.tests);
        self.criteria
            .insert(task.clone(), verification.criteria_passed());
    }

    /// Returns how many tests passed when they were counted last; `None` if they never were.
    pub(super) fn tests(&self) -> Option<u64> {
        self.tests
    }

    /// Returns how many criteria hold, of all tasks together.
    pub(super) fn criteria(&self) -> u64 {
        self.criteria.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_check_of_each_task_counts() {
        let [one, two] = ["one", "two"].map(|id| id.parse::<TaskId>().expect("a name"));
        let passed = Verification::passed("p");
        let two_criteria = Verification::Passed {
            reason: "p".to_owned(),
            tests_passed: None,
            criteria_passed: 2,
        };
        let mut checks = PassedChecks::default();

        for (task, verification) in [
            (&one, two_criteria),
            (&two, Verification::passed_tests("t", 5)),
            (&one, passed),
            (&two, Verification::failed("f")),
        ] {
            checks.add(task, &verification);
        }

        assert_eq!(checks.tests(), Some(5));
        assert_eq!(checks.criteria(), 2);
    }
}
