//! Steps one after the other, up to the first that fails, and the slowest tests of them.

use std::fmt;
use std::time::{Duration, Instant};

use crate::cargo::Cargo;
use crate::counts::{TestCounts, without_colours};
use crate::failure::Failure;

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

/// Number of tests in the summary.
const MAX_LISTED: usize = 10;

/// The slowest tests of a run, slowest first.
///
/// Displays as a table of seconds and names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SlowestTests(Vec<(Duration, String)>);

impl SlowestTests {
    /// Reads lines such as `PASS [   1.234s] (  1/300) autonoe-core::all gate::denies_by_default`.
    ///
    /// Other lines are skipped. The output of `cargo test` has no durations, so it yields nothing.
    pub(crate) fn read(output: &str) -> Self {
        let mut tests: Vec<_> = output.lines().filter_map(read_line).collect();
        tests.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        // nextest repeats failed tests after the summary.
        tests.dedup_by(|a, b| a.1 == b.1);
        tests.truncate(MAX_LISTED);
        Self(tests)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn read_line(line: &str) -> Option<(Duration, String)> {
    let line = without_colours(line);
    let (status, rest) = line.trim_start().split_once('[')?;
    let status = status.trim();
    // `TERMINATING` and `SLOW` are interim reports of a test that is still running.
    if ![
        "PASS", "FAIL", "LEAK", "TIMEOUT", "SIGABRT", "SIGKILL", "SIGSEGV",
    ]
    .contains(&status)
    {
        return None;
    }
    let (seconds, name) = rest.split_once("s]")?;
    let seconds: f64 = seconds.trim().parse().ok()?;
    let name = name.trim();
    // Newer versions print the position in the run before the name.
    let name = match name.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, name)) => name.trim(),
        None => name,
    };
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (!name.is_empty()).then(|| (duration, name.to_owned()))
}

impl fmt::Display for SlowestTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (duration, name) in &self.0 {
            writeln!(f, "{:>8.1} s  {name}", duration.as_secs_f64())?;
        }
        Ok(())
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

    #[test]
    fn lists_tests_by_duration() {
        let output = "\
    PASS [   0.250s] (  1/300) autonoe-core::all gate::denies_by_default
    SLOW [> 60.000s] (─────────) autonoe-claude::real conformance::on_2_1_197
    \u{1b}[32;1mPASS\u{1b}[0m [  71.500s] (  2/300) autonoe-claude::real conformance::on_2_1_197
    FAIL [   2.000s] autonoe-flow machine::tests::walks
   Something else [ 1.0s] that a test printed
 Summary [  90.000s] 3 tests run: 2 passed, 1 failed, 0 skipped
    FAIL [   2.000s] autonoe-flow machine::tests::walks
";

        let slowest = SlowestTests::read(output);

        assert_eq!(
            slowest.to_string(),
            "    71.5 s  autonoe-claude::real conformance::on_2_1_197\n     \
         2.0 s  autonoe-flow machine::tests::walks\n     \
         0.2 s  autonoe-core::all gate::denies_by_default\n"
        );
    }

    #[test]
    fn lists_at_most_ten_tests() {
        let line = |number: u32| format!("PASS [ {number}.000s] (1/20) a test_{number}\n");
        let output: String = (1..=20).map(line).collect();

        let slowest = SlowestTests::read(&output);

        assert_eq!(slowest.0.len(), MAX_LISTED);
        assert_eq!(slowest.0[0].1, "a test_20");
    }

    #[test]
    fn finds_nothing_in_the_output_of_cargo_test() {
        let output = "test gate::tests::a ... ok\ntest result: ok. 1 passed; 0 failed";

        assert!(SlowestTests::read(output).is_empty());
    }
}
