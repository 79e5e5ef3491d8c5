//! Steps one after the other, up to the first that fails.

use std::fmt;
use std::time::{Duration, Instant};

use crate::cargo::Cargo;
use crate::counts::TestCounts;
use crate::failure::Failure;
use crate::slowest::SlowestTests;

/// One named check of the workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Runs the check. Tests are added to the results even when the check fails.
    pub(crate) check: fn(&Cargo, &mut TestResults) -> Result<(), Failure>,
}

/// The tests that the steps have run.
#[derive(Debug, Default)]
pub(crate) struct TestResults {
    pub(crate) counts: TestCounts,
    pub(crate) slowest: SlowestTests,
}

/// Outcomes of all steps.
///
/// Displays as a table with the failure, if any, below it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) tests: TestResults,
    outcomes: Vec<(&'static str, Outcome)>,
}

#[derive(Debug)]
enum Outcome {
    Passed(Duration),
    Failed(Duration, Failure),
    NotRun,
}

/// Carries the steps out, announcing each.
pub(crate) fn run(cargo: &Cargo, steps: &[Step]) -> Report {
    let mut report = Report {
        tests: TestResults::default(),
        outcomes: Vec::with_capacity(steps.len()),
    };
    for step in steps {
        let outcome = if report.passed() {
            report.run_step(cargo, step)
        } else {
            Outcome::NotRun
        };
        report.outcomes.push((step.name, outcome));
    }
    let passed = report.passed();
    // The closing line must not read as success when a check other than a test failed.
    let counts = &mut report.tests.counts;
    if !passed && counts.failed + counts.skipped == 0 {
        counts.failed = 1;
    }
    report
}

impl Report {
    /// Says whether no step has failed.
    pub(crate) fn passed(&self) -> bool {
        let mut outcomes = self.outcomes.iter();
        outcomes.all(|(_, outcome)| matches!(outcome, Outcome::Passed(_)))
    }

    fn run_step(&mut self, cargo: &Cargo, step: &Step) -> Outcome {
        println!("\n=== {}", step.name);
        let started = Instant::now();

        let result = (step.check)(cargo, &mut self.tests);

        let outcome = match result {
            Ok(()) => Outcome::Passed(started.elapsed()),
            Err(failure) => Outcome::Failed(started.elapsed(), failure),
        };
        println!("=== {}: {outcome}", step.name);
        outcome
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome) in &self.outcomes {
            writeln!(f, "{name:<18} {outcome}")?;
        }
        if !self.tests.slowest.is_empty() {
            write!(f, "\nThe slowest tests:\n{}", self.tests.slowest)?;
        }
        for (name, outcome) in &self.outcomes {
            if let Outcome::Failed(_, failure) = outcome {
                writeln!(f, "\nThe step `{name}` failed: {failure}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(time) => write!(f, "passed in {:.1} s", time.as_secs_f64()),
            Self::Failed(time, _) => write!(f, "FAILED in {:.1} s", time.as_secs_f64()),
            Self::NotRun => f.write_str("not run"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcomes: Vec<(&'static str, Outcome)>) -> Report {
        Report {
            tests: TestResults::default(),
            outcomes,
        }
    }

    #[test]
    fn a_report_names_the_failed_step_and_the_reason() {
        let report = report(vec![
            ("format", Outcome::Passed(Duration::from_millis(1240))),
            (
                "tests",
                Outcome::Failed(Duration::from_secs(61), Failure::new("no test ran")),
            ),
            ("docs", Outcome::NotRun),
        ]);

        assert!(!report.passed());
        assert_eq!(
            report.to_string(),
            "format             passed in 1.2 s\n\
             tests              FAILED in 61.0 s\n\
             docs               not run\n\
             \n\
             The step `tests` failed: no test ran\n"
        );
    }

    #[test]
    fn a_report_without_a_failure_has_passed() {
        let report = report(vec![("format", Outcome::Passed(Duration::ZERO))]);

        assert!(report.passed());
        assert_eq!(report.to_string(), "format             passed in 0.0 s\n");
    }
}
