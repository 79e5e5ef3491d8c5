//! What came of a run that was killed after each line.

use std::fmt;

use autonoe_core::{JournalEntry, RunReport};
use serde_json::{Value, json};

/// What came of a run that was killed after every line of its journal in turn.
#[derive(Clone, Debug)]
#[must_use = "a report that nobody asserts on finds nothing"]
pub struct CrashReport {
    pub(super) undisturbed: RunReport,
    pub(super) points: Vec<CrashPoint>,
}

/// What came of a run that was killed after one line of its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrashPoint {
    /// The line after which it was killed, from 1.
    pub line: usize,
    /// What the line tells, for example `fact: session_ended, then wait`.
    pub what: String,
    /// What its totals are worth in the end.
    pub totals: Totals,
    /// What is not as in the undisturbed run.
    pub problems: Vec<String>,
}

/// What the totals of a resumed run are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Totals {
    /// They are those of the undisturbed run.
    Exact,
    /// They are, but for the cost of a session that was lost: they say that one part is unknown.
    Unknown {
        /// The number of the session.
        session: u32,
    },
    /// They are neither exact nor say so.
    Wrong,
}

impl CrashReport {
    /// Returns the report of the undisturbed run.
    pub fn undisturbed(&self) -> &RunReport {
        &self.undisturbed
    }

    /// Returns what came of each kill, line by line.
    pub fn points(&self) -> &[CrashPoint] {
        &self.points
    }

    /// Fails the test if any killed run did not come to the same end as the undisturbed one.
    ///
    /// # Panics
    ///
    /// A point has problems. The message names its line and each of them.
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
            .filter(|point| point.totals == Totals::Exact);
        write!(
            f,
            "killed after each of {all} lines of the journal: {} came to the same end, {failed} \
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

/// Names what a line of a journal tells.
pub(super) fn name(entry: &JournalEntry) -> String {
    let line = json!(entry);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let name = text(&line["line"]).unwrap_or_default();
    match (text(&line["fact"]["fact"]), text(&line["action"]["action"])) {
        (Some(fact), Some(action)) => format!("{name}: {fact}, then {action}"),
        _ => name,
    }
}
