//! Criterion: tests ran and passed, according to a JUnit report, which it parses.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use async_trait::async_trait;
use autonoe_process::CommandOutcome;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{format_command, problems, run};
use super::{Criterion, Verification, VerificationContext};
use crate::executor::folder::{path_problem, resolve_inside};

/// Default time limit of the tests, in seconds.
const HALF_AN_HOUR: u64 = 1800;

/// Maximum size of a report, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Tests that ran and passed:
/// `{"type": "tests", "command": ["cargo", "nextest", "run"], "report": "target/junit.xml"}`.
///
/// The command must end with exit code 0 and write a new JUnit report, in which enough tests passed and none failed. A command that runs no tests also ends with 0, and does not count.
///
/// Test runners of most languages write JUnit XML. Counts in their console output are for people and change with every version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestsCriterion {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The path of the report that the command writes, relative to the folder of the task.
    pub report: PathBuf,
    /// The minimum number of passed tests; 1 by default.
    #[serde(default = "one")]
    pub at_least: u64,
    /// The time limit in seconds; 1800 by default.
    #[serde(default = "default_timeout_seconds")]
    pub timeout_seconds: u64,
}

fn one() -> u64 {
    1
}

fn default_timeout_seconds() -> u64 {
    HALF_AN_HOUR
}

impl TestsCriterion {
    /// Requires `command`, a program and its arguments, to run tests and to report on them in
    /// `report`.
    pub fn new<S: Into<String>>(
        command: impl IntoIterator<Item = S>,
        report: impl Into<PathBuf>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            report: report.into(),
            at_least: 1,
            timeout_seconds: HALF_AN_HOUR,
        }
    }

    /// Judges the counts of a command that succeeded.
    fn judge(&self, counts: TestCounts) -> Verification {
        let TestCounts {
            passed,
            failed,
            skipped,
        } = counts;
        let found = format!("{passed} tests passed, {failed} failed, {skipped} were skipped");
        match () {
            () if failed > 0 => Verification::failed(found),
            () if passed < self.at_least => {
                Verification::failed(format!("{found}; at least {} must pass", self.at_least))
            }
            () => Verification::passed_tests(found, passed),
        }
    }
}

/// Returns a fingerprint that changes when the file is rewritten; `None` if it does not exist.
fn fingerprint(file: &Path) -> Option<(u64, i64, i64, u64)> {
    let metadata = fs::metadata(file).ok()?;
    let (seconds, nanos) = (metadata.mtime(), metadata.mtime_nsec());
    Some((metadata.ino(), seconds, nanos, metadata.len()))
}

fn content(file: &Path) -> io::Result<String> {
    if fs::metadata(file)?.len() > LONGEST {
        let message = format!("it is larger than {LONGEST} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    fs::read_to_string(file)
}

#[typetag::serde(name = "tests")]
#[async_trait]
impl Criterion for TestsCriterion {
    fn describe(&self) -> String {
        let (command, report) = (format_command(&self.command), self.report.display());
        let at_least = self.at_least;
        format!(
            "the tests of {command} pass, at least {at_least} of them, according to the JUnit \
             report `{report}` that it writes"
        )
    }

    fn problems(&self) -> Vec<String> {
        let mut found = problems(&self.command, self.timeout_seconds);
        if self.at_least == 0 {
            found.push("`tests` requires 0 tests to pass; write at least 1".to_owned());
        }
        let report = path_problem(&self.report);
        found.extend(report.map(|problem| format!("the report of `tests`: {problem}")));
        found
    }

    async fn verify(&self, context: &VerificationContext<'_>) -> Verification {
        let command = format_command(&self.command);
        let report = context.folder.join(&self.report);
        let before = fingerprint(&report);
        match run(&self.command, self.timeout_seconds, context).await {
            Err(unverified) => return unverified,
            Ok(CommandOutcome::Exited { code: 0 }) => {}
            Ok(end) => return Verification::failed(format!("{command} {end}")),
        }
        let path = self.report.display();
        let after = fingerprint(&report);
        if after.is_none() || after == before {
            return Verification::failed(format!("{command} did not write the report {path}"));
        }
        let report = match resolve_inside(context.folder, &self.report) {
            Ok(report) => report,
            Err(reason) => return Verification::failed(reason),
        };
        let text = tokio::task::spawn_blocking(move || content(&report)).await;
        let text = match text {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                return Verification::unverified(format!("cannot read the report {path}: {error}"));
            }
            Err(_) => return Verification::unverified(format!("the report {path} was not read")),
        };
        match read(&text) {
            Ok(counts) => self.judge(counts),
            Err(reason) => {
                Verification::unverified(format!("{path} is not a JUnit report: {reason}"))
            }
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), TestsCriterion, "tests", {
    "command": ["cargo", "nextest", "run", "--profile", "ci"],
    "report": "target/nextest/ci/junit.xml",
    "atLeast": 1
});

/// Number of tests per outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

/// Parses a report and counts its test cases. The totals in the report are only used if they
/// contain more failures.
///
/// # Errors
///
/// The text is not a JUnit report, or is incomplete.
pub(super) fn read(text: &str) -> Result<TestCounts, String> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let mut counts = TestCounts::default();
    let (mut failures, mut open) = (0, Vec::<Element>::new());
    let mut is_report = false;
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match event {
            Event::Start(start) => {
                is_report |= begin(&start, &mut open, &mut failures, is_report)?;
            }
            Event::Empty(start) => {
                is_report |= begin(&start, &mut open, &mut failures, is_report)?;
                end(&mut open, &mut counts);
            }
            Event::End(_) => end(&mut open, &mut counts),
            Event::DocType(_) => {
                return Err("it has a document type declaration, which is not supported".to_owned());
            }
            Event::Eof if !open.is_empty() => return Err("it is incomplete".to_owned()),
            Event::Eof if !is_report => return Err("it has no test suite".to_owned()),
            Event::Eof => {
                counts.failed = counts.failed.max(failures);
                return Ok(counts);
            }
            _ => {}
        }
    }
}

/// An open element.
enum Element {
    /// A test case, with its outcome so far.
    Test(TestOutcome),
    Other,
}

#[derive(Clone, Copy)]
enum TestOutcome {
    Passed,
    Skipped,
    Failed,
}

/// Opens an element, and returns whether it is a test suite.
fn begin(
    start: &BytesStart<'_>,
    open: &mut Vec<Element>,
    reported_failures: &mut u64,
    is_report: bool,
) -> Result<bool, String> {
    let name = start.local_name();
    let name = name.as_ref();
    let is_suite = matches!(name, "testsuites" | "testsuite");
    if !is_report && !is_suite {
        return Err(format!(
            "its root element is <{name}>, not <testsuites> or <testsuite>"
        ));
    }
    if is_suite {
        // The total of a suite is included in that of the outer suite, so take the maximum.
        let failures = count(start, "failures")?;
        *reported_failures =
            (*reported_failures).max(failures.saturating_add(count(start, "errors")?));
    }
    if let Some(Element::Test(test_outcome)) = open.last_mut() {
        match name {
            "failure" | "error" => *test_outcome = TestOutcome::Failed,
            "skipped" if !matches!(test_outcome, TestOutcome::Failed) => {
                *test_outcome = TestOutcome::Skipped;
            }
            _ => {}
        }
    }
    open.push(match name {
        "testcase" => Element::Test(TestOutcome::Passed),
        _ => Element::Other,
    });
    Ok(is_suite)
}

fn end(open: &mut Vec<Element>, counts: &mut TestCounts) {
    if let Some(Element::Test(test_outcome)) = open.pop() {
        match test_outcome {
            TestOutcome::Passed => counts.passed += 1,
            TestOutcome::Skipped => counts.skipped += 1,
            TestOutcome::Failed => counts.failed += 1,
        }
    }
}

/// Returns a count attribute of an element; 0 if it is missing.
fn count(start: &BytesStart<'_>, name: &str) -> Result<u64, String> {
    let attribute = start.try_get_attribute(name);
    let Some(attribute) = attribute.map_err(|error| error.to_string())? else {
        return Ok(0);
    };
    let value = attribute.value.trim();
    match value {
        "" => Ok(0),
        value => value
            .parse()
            .map_err(|_| format!("its attribute {name} is {value:?}, which is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_cases_are_counted_by_outcome() {
        // As written by cargo-nextest, pytest and Surefire.
        let nextest = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0" uuid="u" time="0.1">
<testsuite name="crate" tests="3" disabled="0" errors="0" failures="1">
    <testcase name="a" classname="crate" time="0.01"></testcase>
    <testcase name="flaky" classname="crate"><flakyFailure type="t" message="m"/></testcase>
    <testcase name="b" classname="crate">
        <failure type="test failure" message="x &lt; y">boom</failure>
        <system-out>ok. 5 passed</system-out>
    </testcase>
</testsuite>
</testsuites>"#;
        let pytest = r#"<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" errors="1" failures="0" skipped="1" tests="3"><testcase classname="t" name="a" time="0.1" /><testcase classname="t" name="b"><skipped type="pytest.skip" message="no">t.py:3</skipped></testcase><testcase classname="" name="c"><error message="collection failure">x</error></testcase></testsuite></testsuites>"#;
        let surefire = r#"<testsuite xmlns:xsi="x" name="T" tests="2" errors="0" skipped="0" failures="0"><properties><property name="error" value="1"/></properties><testcase name="a"/><testcase name="b"><system-err>failure</system-err></testcase></testsuite>"#;
        for (text, passed, failed, skipped) in [
            (nextest, 2, 1, 0),
            (pytest, 1, 1, 1),
            (surefire, 2, 0, 0),
            ("<testsuites/>", 0, 0, 0),
            ("\u{feff}<testsuite><testcase/></testsuite>", 1, 0, 0),
            // An agent can write any number.
            (
                r#"<testsuite failures="18446744073709551615" errors="1"><testcase/></testsuite>"#,
                1,
                u64::MAX,
                0,
            ),
            // The total contains a failure that has no test case.
            (
                r#"<testsuite failures="2"><testcase/></testsuite>"#,
                1,
                2,
                0,
            ),
            (
                "<testsuite><testcase><skipped/><failure/></testcase></testsuite>",
                0,
                1,
                0,
            ),
        ] {
            let expected = TestCounts {
                passed,
                failed,
                skipped,
            };
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_incomplete_report_is_an_error() {
        for text in [
            "",
            "5 passed",
            "<html><testsuite/></html>",
            "<testsuite><testcase/>",
            "<testsuites><testsuite></testsuites>",
            "<testsuite failures='many'/>",
            "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite/>",
            "{\"type\": \"suite\"}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
