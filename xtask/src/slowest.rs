//! Durations of single tests, read from the output of nextest.

use std::fmt;
use std::time::Duration;

use crate::counts::without_colours;

/// Number of tests in the summary.
const SHOWN: usize = 10;

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
        tests.truncate(SHOWN);
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

        assert_eq!(slowest.0.len(), SHOWN);
        assert_eq!(slowest.0[0].1, "a test_20");
    }

    #[test]
    fn finds_nothing_in_the_output_of_cargo_test() {
        let output = "test gate::tests::a ... ok\ntest result: ok. 1 passed; 0 failed";

        assert!(SlowestTests::read(output).is_empty());
    }
}
