//! The closing line of `cargo nextest run`.

use super::{TestCounts, number_and_label, without_colours};
use crate::failure::Failure;

/// Reads the last summary line in `output`.
///
/// Returns no tests at all if there is none, as when the code does not compile.
pub(crate) fn read(output: &str) -> Result<TestCounts, Failure> {
    // The output of a failed test could itself contain a summary; nextest's
    // own is the last one.
    let mut lines = output.lines().map(without_colours);
    let Some(line) = lines.rfind(|line| line.trim_start().starts_with("Summary [")) else {
        return Ok(TestCounts::default());
    };
    read_summary(&line)
        .ok_or_else(|| Failure::new(format!("cannot read the summary of nextest: {line}")))
}

/// Reads `Summary [ 1.2s] 3 tests run: 2 passed (1 slow), 1 failed, 0 skipped`.
fn read_summary(line: &str) -> Option<TestCounts> {
    let (_, numbers) = line.split_once(" run: ")?;
    let numbers = without_parentheses(numbers);
    let mut counts = TestCounts::default();
    for part in numbers.split(',') {
        match number_and_label(part)? {
            (number, "passed") => counts.passed = number,
            (number, "failed" | "exec failed" | "timed out") => counts.failed += number,
            (number, "skipped") => counts.skipped = number,
            _ => return None,
        }
    }
    Some(counts)
}

/// Drops remarks such as `(1 slow, 2 leaky)`, which split a number further.
fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    text.chars()
        .filter(|&c| {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u64, failed: u64, skipped: u64) -> Result<TestCounts, Failure> {
        Ok(TestCounts {
            passed,
            failed,
            skipped,
        })
    }

    #[test]
    fn every_form_of_the_summary_is_read() {
        for (rest, expected) in [
            ("1 test run: 1 passed, 0 skipped", counts(1, 0, 0)),
            (
                "300 tests run: 299 passed (1 slow), 1 failed, 2 skipped",
                counts(299, 1, 2),
            ),
            (
                "9 tests run: 5 passed (1 slow, 1 flaky, 1 leaky), 2 failed (1 due to being leaky), \
                 1 exec failed, 1 timed out, 0 skipped",
                counts(5, 4, 0),
            ),
            ("7/10 tests run: 7 passed, 0 skipped", counts(7, 0, 0)),
            ("0 tests run: 0 passed, 0 skipped", counts(0, 0, 0)),
        ] {
            let line = format!("     Summary [   1.234s] {rest}");
            assert_eq!(read(&line), expected, "{rest}");
        }
    }

    #[test]
    fn the_last_summary_counts() {
        let output = "\
    Summary [   0.001s] 9 tests run: 9 passed, 0 skipped
────────────
     \u{1b}[32;1mSummary\u{1b}[0m [   0.004s] \u{1b}[1m2\u{1b}[0m tests run: \u{1b}[1m1\u{1b}[0m passed, 1 failed, 0 skipped
        FAIL [   0.002s] autonoe-core tests::a
error: test run failed
";

        assert_eq!(read(output), counts(1, 1, 0));
    }

    #[test]
    fn an_output_without_summary_counts_nothing() {
        assert_eq!(read("error: could not compile"), counts(0, 0, 0));
    }

    #[test]
    fn an_unknown_number_is_refused() {
        assert!(read("Summary [1s] 2 tests run: 1 passed, 1 postponed").is_err());
    }
}
