//! How checks are made: one at a time, each for itself.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt;

use super::report::Conformance;

/// What a check comes to.
pub type Finding<T = ()> = Result<T, Flaw>;

/// Why a check did not pass.
#[derive(Clone, Debug)]
pub enum Flaw {
    /// The implementation does not do what it must.
    Failed(String),
    /// It cannot be seen what the implementation does.
    Untestable(String),
}

impl From<String> for Flaw {
    fn from(what: String) -> Self {
        Self::Failed(what)
    }
}

/// The checks of one suite, as they are made: for the suites of ports of other crates.
///
/// ```
/// use autonoe_testkit::conformance::{Checks, Flaw};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut checks = Checks::of("sums");
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
    /// Begins the suite of this name.
    pub fn of(suite: &'static str) -> Self {
        Self {
            report: Conformance::of(suite),
        }
    }

    /// Makes a check that waits. A panic is a failed check.
    pub async fn run(&mut self, check: &str, finding: impl Future<Output = Finding>) {
        let finding = AssertUnwindSafe(finding).catch_unwind().await;
        self.note(check, finding.unwrap_or_else(|panic| Err(panicked(panic))));
    }

    /// Makes a check that does not wait. A panic is a failed check.
    pub fn look(&mut self, check: &str, finding: impl FnOnce() -> Finding) {
        let finding = catch_unwind(AssertUnwindSafe(finding));
        self.note(check, finding.unwrap_or_else(|panic| Err(panicked(panic))));
    }

    /// Makes a check of each of `things`; all that is wrong with any of them is told.
    pub(super) fn each<T>(
        &mut self,
        check: &str,
        things: impl IntoIterator<Item = T>,
        finding: impl Fn(T) -> Finding,
    ) {
        self.look(check, || {
            let (mut failed, mut unseen) = (Vec::new(), None);
            for thing in things {
                match finding(thing) {
                    Ok(()) => {}
                    Err(Flaw::Failed(what)) => failed.push(what),
                    Err(untestable) => unseen = Some(untestable),
                }
            }
            match unseen {
                _ if !failed.is_empty() => Err(Flaw::Failed(some_of(&failed))),
                Some(untestable) => Err(untestable),
                None => Ok(()),
            }
        });
    }

    fn note(&mut self, check: &str, finding: Finding) {
        match finding {
            Ok(()) => self.report.pass(check.to_owned()),
            Err(Flaw::Failed(what)) => self.report.fail(check.to_owned(), cut(what)),
            Err(Flaw::Untestable(why)) => self.report.skip(check.to_owned(), why),
        }
    }

    /// Returns what was found.
    pub fn finish(self) -> Conformance {
        self.report
    }
}

/// Returns the flaw of something that panicked.
pub(super) fn panicked(panic: Box<dyn Any + Send>) -> Flaw {
    Flaw::Failed(format!("it panicked: {}", panic_text(panic)))
}

/// The first few of `failed`: an implementation that gets all wrong is not worth a hundred lines.
fn some_of(failed: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = failed
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    if failed.len() > SHOWN {
        text.push_str(&format!("\nand {} more", failed.len() - SHOWN));
    }
    text
}

/// Cuts off what nobody would read: some of what is tried is huge.
fn cut(mut what: String) -> String {
    const SHOWN: usize = 4_000;
    if what.len() > SHOWN {
        what.truncate(what.floor_char_boundary(SHOWN));
        what.push_str(" [...]");
    }
    what
}

/// Returns what a panic said.
pub(super) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(
            |_| "something that is no text".to_owned(),
            |text| (*text).to_owned(),
        ),
    }
}

/// Waits for `work`, but not longer than `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = T>,
) -> Finding<T> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => Ok(done),
        Err(_elapsed) => Err(Flaw::Failed(format!("{what} took longer than {limit:?}"))),
    }
}

/// A path at which nothing is, and at which nothing is to appear.
pub(super) struct Marker(PathBuf);

impl Marker {
    /// Picks a path in `directory`; no other marker has it.
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

    /// Returns a command that would leave something there.
    pub(super) fn touch(&self) -> String {
        format!("touch '{}'", self.0.display())
    }

    /// Looks that nothing has appeared, and removes what has.
    pub(super) fn is_absent(&self) -> Finding {
        let removed = std::fs::remove_file(&self.0);
        ensure!(
            removed.is_err(),
            "a call was carried out: it made {:?}",
            self.0
        );
        Ok(())
    }
}
