//! Criterion: tests ran and passed, according to a JUnit report.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_process::CommandOutcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{format_command, problems, run};
use super::junit::{TestCounts, read};
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
#[non_exhaustive]
pub struct TestsCriterion {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The path of the report that the command writes, relative to the folder of the task.
    pub report: PathBuf,
    /// The minimum number of passed tests; 1 by default.
    #[serde(default = "one")]
    pub at_least: u64,
    /// The time limit in seconds; 1800 by default.
    #[serde(default = "half_an_hour")]
    pub timeout_seconds: u64,
}

fn one() -> u64 {
    1
}

fn half_an_hour() -> u64 {
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

    /// Sets the minimum number of passed tests.
    #[must_use]
    pub fn at_least(mut self, tests: u64) -> Self {
        self.at_least = tests;
        self
    }

    /// Sets the time limit, rounded up to seconds.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout_seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        self
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
        let wanted = context.folder.join(&self.report);
        let before = fingerprint(&wanted);
        match run(&self.command, self.timeout_seconds, context).await {
            Err(unverified) => return unverified,
            Ok(CommandOutcome::Exited { code: 0 }) => {}
            Ok(end) => return Verification::failed(format!("{command} {end}")),
        }
        let path = self.report.display();
        let after = fingerprint(&wanted);
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
