//! Report of a conformance suite.

use std::fmt;

/// The result of a conformance suite: every check by name.
///
/// ```
/// use autonoe_core::gate::policy::DenyAll;
/// use autonoe_testkit::conformance;
///
/// let report = conformance::bash_contract(DenyAll);
///
/// assert!(report.passed().contains(&"no text makes it panic".to_owned()));
/// report.assert();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "assert on the report, or its failures are lost"]
pub struct Conformance {
    suite: &'static str,
    passed: Vec<String>,
    failures: Vec<FailedCheck>,
    skipped: Vec<SkippedCheck>,
}

/// A check that an implementation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedCheck {
    /// The requirement.
    pub check: String,
    /// Actual behaviour.
    pub what: String,
}

/// A check that could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedCheck {
    /// The requirement.
    pub check: String,
    /// The reason.
    pub why: String,
}

impl Conformance {
    pub(super) fn new(suite: &'static str) -> Self {
        Self {
            suite,
            passed: Vec::new(),
            failures: Vec::new(),
            skipped: Vec::new(),
        }
    }

    pub(super) fn pass(&mut self, check: String) {
        self.passed.push(check);
    }

    pub(super) fn fail(&mut self, check: String, what: String) {
        self.failures.push(FailedCheck { check, what });
    }

    pub(super) fn skip(&mut self, check: String, why: String) {
        self.skipped.push(SkippedCheck { check, why });
    }

    /// Returns the names of the checks that passed.
    pub fn passed(&self) -> &[String] {
        &self.passed
    }

    /// Returns the checks that failed.
    pub fn failures(&self) -> &[FailedCheck] {
        &self.failures
    }

    /// Returns the checks that could not be run.
    pub fn skipped(&self) -> &[SkippedCheck] {
        &self.skipped
    }

    /// Fails the test if any check failed. Skipped checks are not failures.
    ///
    /// # Panics
    ///
    /// If there are [`failures`](Self::failures).
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.failures.is_empty(), "{self}");
    }
}

impl fmt::Display for Conformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            suite,
            passed,
            failures,
            skipped,
        } = self;
        let (passed, failed, left_out) = (passed.len(), failures.len(), skipped.len());
        write!(
            f,
            "{suite}: {passed} checks passed, {failed} failed, {left_out} skipped"
        )?;
        for FailedCheck { check, what } in failures {
            write!(
                f,
                "\n- failed: {check}\n    {}",
                what.replace('\n', "\n    ")
            )?;
        }
        for SkippedCheck { check, why } in skipped {
            write!(f, "\n- skipped: {check} ({why})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_lists_what_failed_and_what_was_skipped() {
        let mut report = Conformance::new("a suite");
        report.pass("it works".into());
        report.fail("it is quick".into(), "it took a year\nand a day".into());
        report.skip("it is cheap".into(), "nobody knows the price".into());

        assert_eq!(
            report.to_string(),
            "a suite: 1 checks passed, 1 failed, 1 skipped\n\
             - failed: it is quick\n    it took a year\n    and a day\n\
             - skipped: it is cheap (nobody knows the price)"
        );
    }

    #[test]
    #[should_panic(expected = "- failed: it is quick")]
    fn asserting_on_a_failure_panics_with_the_report() {
        let mut report = Conformance::new("a suite");
        report.fail("it is quick".into(), "it took a year".into());

        report.assert();
    }
}
