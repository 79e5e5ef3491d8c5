//! Runs the checks of a suite one at a time, each independent of the others, and reports them as [`Conformance`].

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt;

/// The result of a check.
pub type CheckOutcome<T = ()> = Result<T, Flaw>;

/// The reason why a check did not pass.
#[derive(Clone, Debug)]
pub enum Flaw {
    /// The implementation violates its contract.
    Failed(String),
    /// The behaviour of the implementation cannot be observed.
    Untestable(String),
}

impl From<String> for Flaw {
    fn from(problem: String) -> Self {
        Self::Failed(problem)
    }
}

/// Builder for the report of one suite; also for suites of ports in other crates.
///
/// ```
/// use autonoe_testkit::conformance::{Checks, Flaw};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut checks = Checks::new("sums");
/// checks.run("one and one are two", async { Ok(()) }).await;
/// checks.run("large sums are exact", async {
///     Err(Flaw::Untestable("nobody has time for that".into()))
/// }).await;
/// let report = checks.finish();
///
/// report.assert();
/// assert_eq!(report.passed(), ["one and one are two"]);
/// # });
/// ```
#[derive(Debug)]
pub struct Checks {
    report: Conformance,
}

impl Checks {
    /// Starts the suite of this name.
    pub fn new(suite: &'static str) -> Self {
        Self {
            report: Conformance::new(suite),
        }
    }

    /// Runs an asynchronous check. A panic is a failed check.
    pub async fn run(&mut self, check: &str, finding: impl Future<Output = CheckOutcome>) {
        let finding = AssertUnwindSafe(finding).catch_unwind().await;
        self.note(check, finding.unwrap_or_else(|panic| Err(panicked(panic))));
    }

    /// Runs a synchronous check. A panic is a failed check.
    pub fn run_sync(&mut self, check: &str, finding: impl FnOnce() -> CheckOutcome) {
        let finding = catch_unwind(AssertUnwindSafe(finding));
        self.note(check, finding.unwrap_or_else(|panic| Err(panicked(panic))));
    }

    /// Checks each of `things` and reports the flaws of all of them in one check.
    pub(super) fn each<T>(
        &mut self,
        check: &str,
        things: impl IntoIterator<Item = T>,
        finding: impl Fn(T) -> CheckOutcome,
    ) {
        self.run_sync(check, || {
            let (mut failed, mut unseen) = (Vec::new(), None);
            for thing in things {
                match finding(thing) {
                    Ok(()) => {}
                    Err(Flaw::Failed(problem)) => failed.push(problem),
                    Err(untestable) => unseen = Some(untestable),
                }
            }
            match unseen {
                _ if !failed.is_empty() => Err(Flaw::Failed(first_few(&failed))),
                Some(untestable) => Err(untestable),
                None => Ok(()),
            }
        });
    }

    fn note(&mut self, check: &str, finding: CheckOutcome) {
        match finding {
            Ok(()) => self.report.pass(check.to_owned()),
            Err(Flaw::Failed(problem)) => self.report.fail(check.to_owned(), cut(problem)),
            Err(Flaw::Untestable(reason)) => self.report.skip(check.to_owned(), reason),
        }
    }

    /// Returns the report.
    pub fn finish(self) -> Conformance {
        self.report
    }
}

/// Converts a panic into a flaw.
pub(super) fn panicked(panic: Box<dyn Any + Send>) -> Flaw {
    Flaw::Failed(format!("it panicked: {}", panic_text(panic)))
}

/// Returns the first few of `failed`: a completely wrong implementation does not deserve a hundred
/// lines.
fn first_few(failed: &[String]) -> String {
    const MAX_FLAWS: usize = 8;
    let mut text = failed
        .iter()
        .take(MAX_FLAWS)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    if failed.len() > MAX_FLAWS {
        text.push_str(&format!("\nand {} more", failed.len() - MAX_FLAWS));
    }
    text
}

/// Truncates long texts, because some inputs are huge.
fn cut(mut text: String) -> String {
    const MAX_BYTES: usize = 4_000;
    if text.len() > MAX_BYTES {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push_str(" [...]");
    }
    text
}

/// Returns the message of a panic.
pub(super) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(
            |_| "the panic message is not a text".to_owned(),
            |text| (*text).to_owned(),
        ),
    }
}

/// Waits for `work`, but not longer than `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    work_name: &str,
    work: impl Future<Output = T>,
) -> CheckOutcome<T> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => Ok(done),
        Err(_elapsed) => Err(Flaw::Failed(format!(
            "{work_name} took longer than {limit:?}"
        ))),
    }
}

/// A path at which no file exists or may appear.
pub(super) struct Marker(PathBuf);

impl Marker {
    /// Picks a path in `directory` that no other marker has.
    pub(super) fn in_dir(directory: &Path) -> Self {
        static PICKED: AtomicU32 = AtomicU32::new(0);
        let number = PICKED.fetch_add(1, Ordering::Relaxed);
        Self(directory.join(format!(
            "autonoe-conformance-{}-{number}",
            std::process::id()
        )))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns a command that would create the file.
    pub(super) fn touch(&self) -> String {
        format!("touch '{}'", self.0.display())
    }

    /// Checks that no file has appeared, and removes it if there is one.
    pub(super) fn is_absent(&self) -> CheckOutcome {
        let removed = std::fs::remove_file(&self.0);
        ensure!(
            removed.is_err(),
            "a call was executed: it created {:?}",
            self.0
        );
        Ok(())
    }
}

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
    pub problem: String,
}

/// A check that could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedCheck {
    /// The requirement.
    pub check: String,
    /// The reason.
    pub reason: String,
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

    pub(super) fn fail(&mut self, check: String, problem: String) {
        self.failures.push(FailedCheck { check, problem });
    }

    pub(super) fn skip(&mut self, check: String, reason: String) {
        self.skipped.push(SkippedCheck { check, reason });
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
        for FailedCheck { check, problem } in failures {
            write!(
                f,
                "\n- failed: {check}\n    {}",
                problem.replace('\n', "\n    ")
            )?;
        }
        for SkippedCheck { check, reason } in skipped {
            write!(f, "\n- skipped: {check} ({reason})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_lists_failed_and_skipped_checks() {
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
