//! Counts of passed, failed and skipped tests, read from an output without its colours.

mod libtest;
mod nextest;

use std::fmt;
use std::ops::AddAssign;

use crate::failure::Failure;

pub(crate) use libtest::read as read_libtest;
pub(crate) use nextest::read as read_nextest;

/// The result of running tests, in numbers.
///
/// Displays as `N passed, M failed`, the line others read. A test that did not
/// run counts as failed there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) passed: u64,
    /// Includes tests that timed out or could not be started.
    pub(crate) failed: u64,
    /// Tests marked as ignored or filtered out.
    pub(crate) skipped: u64,
}

impl TestCounts {
    /// Reads the last line of what `cargo xtask test` printed.
    pub(crate) fn read_totals(output: &str) -> Option<Self> {
        let (passed, failed) = output.trim_end().lines().next_back()?.split_once(", ")?;
        Some(Self {
            passed: passed.strip_suffix(" passed")?.parse().ok()?,
            failed: failed.strip_suffix(" failed")?.parse().ok()?,
            skipped: 0,
        })
    }

    /// Refuses failed tests and tests that were left out.
    pub(crate) fn check(self) -> Result<(), Failure> {
        if self.failed > 0 {
            return Err(Failure::new(format!("tests failed: {}", self.failed)));
        }
        if self.skipped > 0 {
            return Err(Failure::new(format!(
                "tests ignored or skipped: {}; enable or remove them",
                self.skipped
            )));
        }
        Ok(())
    }

    /// Refuses a run in which nothing was tested.
    pub(crate) fn check_not_empty(self) -> Result<(), Failure> {
        if self.passed + self.failed == 0 {
            return Err(Failure::new("no test ran"));
        }
        Ok(())
    }
}

impl AddAssign for TestCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for TestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.failed + self.skipped;
        write!(f, "{} passed, {failed} failed", self.passed)
    }
}

/// Reads `12 some words` as the number and the words.
fn number_and_label(part: &str) -> Option<(u64, &str)> {
    let (number, label) = part.trim().split_once(' ')?;
    Some((number.parse().ok()?, label.trim()))
}

/// Returns `line` without its colour sequences (`ESC [ … letter`).
pub(crate) fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = match after.find(|c: char| ('@'..='~').contains(&c)) {
            Some(end) => &after[end + 1..],
            None => "",
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> TestCounts {
        TestCounts {
            passed,
            failed,
            skipped,
        }
    }

    #[test]
    fn the_totals_are_the_line_others_read() {
        let mut total = counts(300, 0, 0);
        total += counts(12, 1, 2);

        assert_eq!(total.to_string(), "312 passed, 3 failed");
        let output = format!("docs passed in 3.0 s\n\n{total}\n");
        assert_eq!(TestCounts::read_totals(&output), Some(counts(312, 3, 0)));
        assert_eq!(TestCounts::read_totals("312 passed in 3.0 s"), None);
    }

    #[test]
    fn only_a_run_of_every_test_without_a_failure_is_accepted() {
        assert_eq!(counts(3, 0, 0).check(), Ok(()));
        assert!(counts(3, 1, 0).check().is_err());
        assert!(counts(3, 0, 1).check().is_err());
    }

    #[test]
    fn a_run_of_no_tests_is_empty() {
        assert_eq!(counts(1, 0, 0).check_not_empty(), Ok(()));
        assert_eq!(counts(0, 1, 0).check_not_empty(), Ok(()));
        assert!(counts(0, 0, 5).check_not_empty().is_err());
    }

    #[test]
    fn strips_colours_and_keeps_text() {
        for (coloured, plain) in [
            ("nothing to do [1]", "nothing to do [1]"),
            ("\u{1b}[32;1m12\u{1b}[0m passed", "12 passed"),
            ("cut off \u{1b}[3", "cut off "),
        ] {
            assert_eq!(without_colours(coloured), plain);
        }
    }
}
