//! Tests that ran and passed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_process::CommandEnd;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{problems, run, shown};
use super::junit::{TestCounts, read};
use super::{Criterion, Verification, Verifying};
use crate::executor::folder::{inside, problem_with};

/// How long tests may take that do not say so.
const HALF_AN_HOUR: u64 = 1800;

/// The longest report that is read, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Tests that ran and passed:
/// `{"type": "tests", "command": ["cargo", "nextest", "run"], "report": "target/junit.xml"}`.
///
/// The command must end with exit code 0 and write a JUnit report anew, in which enough tests
/// passed and none failed. A command that runs no test ends with 0 too, and that does not count.
///
/// JUnit's XML is what runners of most languages write; counts in their output are for people and
/// change with every version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct TestsCriterion {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The report that it writes, a path from the folder of the task.
    pub report: PathBuf,
    /// How many tests must pass at least; 1 by default.
    #[serde(default = "one")]
    pub at_least: u64,
    /// How many seconds it may take; 1800 by default.
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
    /// Has `command`, a program and its arguments, run tests and report on them in `report`.
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

    /// Sets how many tests must pass at least.
    #[must_use]
    pub fn at_least(mut self, tests: u64) -> Self {
        self.at_least = tests;
        self
    }

    /// Sets how long it may take, to the second above.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout_seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        self
    }

    /// Says what counts mean for a command that ended well.
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

/// What tells two writings of a file apart; `None` if it is not there.
fn stamp(file: &Path) -> Option<(u64, i64, i64, u64)> {
    let metadata = fs::metadata(file).ok()?;
    let (seconds, nanos) = (metadata.mtime(), metadata.mtime_nsec());
    Some((metadata.ino(), seconds, nanos, metadata.len()))
}

fn content(file: &Path) -> io::Result<String> {
    if fs::metadata(file)?.len() > LONGEST {
        let message = format!("it is longer than {LONGEST} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    fs::read_to_string(file)
}

#[typetag::serde(name = "tests")]
#[async_trait]
impl Criterion for TestsCriterion {
    fn describe(&self) -> String {
        let (command, report) = (shown(&self.command), self.report.display());
        let at_least = self.at_least;
        format!(
            "the tests of {command} pass, at least {at_least} of them, by the JUnit report `{report}` \
             that it writes"
        )
    }

    fn problems(&self) -> Vec<String> {
        let mut found = problems(&self.command, self.timeout_seconds);
        if self.at_least == 0 {
            found.push("`tests` asks for no test to pass".to_owned());
        }
        let report = problem_with(&self.report);
        found.extend(report.map(|problem| format!("the report of `tests`: {problem}")));
        found
    }

    async fn verify(&self, look: &Verifying<'_>) -> Verification {
        let command = shown(&self.command);
        let wanted = look.folder.join(&self.report);
        let before = stamp(&wanted);
        match run(&self.command, self.timeout_seconds, look).await {
            Err(unverified) => return unverified,
            Ok(CommandEnd::Exited { code: 0 }) => {}
            Ok(end) => return Verification::failed(format!("{command} {end}")),
        }
        let shown = self.report.display();
        let after = stamp(&wanted);
        if after.is_none() || after == before {
            return Verification::failed(format!("{command} did not write the report {shown}"));
        }
        let report = match inside(look.folder, &self.report) {
            Ok(report) => report,
            Err(reason) => return Verification::failed(reason),
        };
        let text = tokio::task::spawn_blocking(move || content(&report)).await;
        let text = match text {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                return Verification::unverified(format!(
                    "the report {shown} cannot be read: {error}"
                ));
            }
            Err(_) => return Verification::unverified(format!("the report {shown} was not read")),
        };
        match read(&text) {
            Ok(counts) => self.judge(counts),
            Err(reason) => {
                Verification::unverified(format!("{shown} is no JUnit report: {reason}"))
            }
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), TestsCriterion, "tests", {
    "command": ["cargo", "nextest", "run", "--profile", "ci"],
    "report": "target/nextest/ci/junit.xml",
    "atLeast": 1
});
