//! Report of a crash test.

use std::fmt;

use autonoe_core::RunReport;
use autonoe_core::project::JournalEntry;
use serde_json::{Value, json};

/// The results of a run that was killed after every line of its journal in turn.
#[derive(Clone, Debug)]
#[must_use = "assert on the report, or its failures are lost"]
pub struct CrashReport {
    pub(super) undisturbed: RunReport,
    pub(super) points: Vec<CrashPoint>,
}

/// The result of a run that was killed after one line of its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrashPoint {
    /// The line after which it was killed, from 1.
    pub line: usize,
    /// The content of the line, for example `fact: session_ended, then wait`.
    pub what: String,
    /// The accuracy of the final totals.
    pub totals: TotalsAccuracy,
    /// Differences from the undisturbed run.
    pub problems: Vec<String>,
}

/// The accuracy of a resumed run's totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TotalsAccuracy {
    /// They equal those of the undisturbed run.
    Exact,
    /// They are equal except for the cost of a lost session: they report one part as unknown.
    Unknown {
        /// The number of the session.
        session: u32,
    },
    /// They are wrong without reporting it.
    Wrong,
}

impl CrashReport {
    /// Returns the report of the undisturbed run.
    pub fn undisturbed(&self) -> &RunReport {
        &self.undisturbed
    }

    /// Returns the result of each kill, line by line.
    pub fn points(&self) -> &[CrashPoint] {
        &self.points
    }

    /// Fails the test if any killed run did not reach the same end as the undisturbed one.
    ///
    /// # Panics
    ///
    /// If a point has problems. The message names its line and each problem.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.failed().next().is_none(), "{self}");
    }

    fn failed(&self) -> impl Iterator<Item = &CrashPoint> {
        self.points
            .iter()
            .filter(|point| !point.problems.is_empty())
    }
}

impl fmt::Display for CrashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, failed) = (self.points.len(), self.failed().count());
        let exact = self
            .points
            .iter()
            .filter(|point| point.totals == TotalsAccuracy::Exact);
        write!(
            f,
            "killed after each of {all} lines of the journal: {} reached the same end, {failed} \
             did not; {} have exact totals",
            all - failed,
            exact.count()
        )?;
        for CrashPoint {
            line,
            what,
            problems,
            ..
        } in self.failed()
        {
            write!(f, "\n- after line {line} ({what}):")?;
            for problem in problems {
                write!(f, "\n    {}", problem.replace('\n', "\n    "))?;
            }
        }
        Ok(())
    }
}

/// Returns a name for a journal line.
pub(super) fn name(entry: &JournalEntry) -> String {
    let line = json!(entry);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let name = text(&line["line"]).unwrap_or_default();
    match (text(&line["fact"]["fact"]), text(&line["action"]["action"])) {
        (Some(fact), Some(action)) => format!("{name}: {fact}, then {action}"),
        _ => name,
    }
}
