//! The result lines of `cargo test`.

use super::{TestCounts, number_and_label, without_colours};
use crate::failure::Failure;

/// Adds up the result lines of all test binaries in `output`.
pub(crate) fn read(output: &str) -> Result<TestCounts, Failure> {
    let mut total = TestCounts::default();
    for line in output.lines().map(without_colours) {
        if let Some(result) = line.strip_prefix("test result: ") {
            total += read_result(result).ok_or_else(|| {
                Failure::new(format!("cannot read the result line of a test run: {line}"))
            })?;
        }
    }
    Ok(total)
}

/// Reads what follows `test result: `.
fn read_result(result: &str) -> Option<TestCounts> {
    let (_ok_or_failed, numbers) = result.split_once(". ")?;
    let mut counts = TestCounts::default();
    for part in numbers.split("; ") {
        if part.starts_with("finished in ") {
            continue;
        }
        match number_and_label(part)? {
            (number, "passed") => counts.passed = number,
            (number, "failed") => counts.failed = number,
            // A filter can only come from a configuration that hides tests.
            (number, "ignored" | "filtered out") => counts.skipped += number,
            (_, "measured") => {}
            _ => return None,
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 12 tests
test guard::a_refused_tool_is_not_called ... ok

test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 4 tests
test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s

all doctests ran in 0.40s; merged doctests compilation took 0.31s
";

    #[test]
    fn the_binaries_of_a_run_are_added_up() {
        let counts = TestCounts {
            passed: 14,
            failed: 1,
            skipped: 1,
        };

        assert_eq!(read(OUTPUT), Ok(counts));
    }

    #[test]
    fn colours_do_not_matter() {
        let line = "test result: \u{1b}[32mok\u{1b}[0m. 1 passed; 0 failed";

        let counts = TestCounts {
            passed: 1,
            ..TestCounts::default()
        };
        assert_eq!(read(line), Ok(counts));
    }

    #[test]
    fn an_output_without_results_counts_nothing() {
        assert_eq!(read("error: could not compile"), Ok(TestCounts::default()));
    }

    #[test]
    fn an_unknown_number_is_refused() {
        assert!(read("test result: ok. 1 passed; 3 postponed").is_err());
    }
}
