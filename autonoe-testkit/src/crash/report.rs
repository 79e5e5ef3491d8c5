//! Report of a crash test, and the comparison of a resumed run with the uninterrupted one.

use std::collections::BTreeSet;
use std::fmt;

use autonoe_core::RunReport;
use autonoe_core::ledger::LedgerState;
use autonoe_core::project::JournalEntry;
use serde_json::{Value, json};

use crate::TempProject;

/// The results of a run that was killed after every line of its journal in turn.
#[derive(Clone, Debug)]
#[must_use = "assert on the report, or its failures are lost"]
pub struct CrashReport {
    pub(super) uninterrupted: RunReport,
    pub(super) points: Vec<CrashPoint>,
}

/// The result of a run that was killed after one line of its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrashPoint {
    /// The line after which it was killed, from 1.
    pub line: usize,
    /// The content of the line, for example `fact: session_ended, then wait`.
    pub content: String,
    /// The accuracy of the final totals.
    pub totals: TotalsAccuracy,
    /// Differences from the uninterrupted run.
    pub problems: Vec<String>,
}

/// The accuracy of a resumed run's totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TotalsAccuracy {
    /// They equal those of the uninterrupted run.
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
    /// Returns the report of the uninterrupted run.
    pub fn uninterrupted(&self) -> &RunReport {
        &self.uninterrupted
    }

    /// Returns the result of each kill, line by line.
    pub fn points(&self) -> &[CrashPoint] {
        &self.points
    }

    /// Fails the test if any killed run did not reach the same end as the uninterrupted one.
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
            content,
            problems,
            ..
        } in self.failed()
        {
            write!(f, "\n- after line {line} ({content}):")?;
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

/// The results of the uninterrupted run.
pub(super) struct UninterruptedRun {
    pub(super) report: RunReport,
    pub(super) ledger: Option<LedgerState>,
    pub(super) entries: Vec<JournalEntry>,
    journal: String,
}

impl UninterruptedRun {
    pub(super) fn new(report: RunReport, project: &TempProject) -> Self {
        Self {
            report,
            ledger: project.ledger(),
            entries: project.journal().entries().to_vec(),
            journal: project.journal_text(),
        }
    }

    /// Describes a difference in the journal of a run that was killed after `line`: up to there it
    /// must equal the uninterrupted one byte for byte.
    pub(super) fn compare_journal(&self, line: usize, project: &TempProject) -> Option<String> {
        let expected: Vec<&str> = self.journal.lines().take(line).collect();
        let text = project.journal_text();
        let found: Vec<&str> = text.lines().collect();
        if found == expected {
            return None;
        }
        let same = found
            .iter()
            .zip(&expected)
            .take_while(|(one, other)| one == other);
        let at = same.count();
        let [found, expected] =
            [found, expected].map(|lines| lines.get(at).copied().unwrap_or("nothing"));
        Some(format!(
            "two runs of the same script differ in line {} of their journals: {found} instead of {expected}",
            at + 1
        ))
    }

    /// Describes the differences between the ledger of `project` and the final one.
    pub(super) fn compare_ledger(&self, project: &TempProject) -> Vec<String> {
        let [expected, found] = [&self.ledger, &project.ledger()].map(|state| json!(state));
        let all = differences(&expected, &found);
        all.iter()
            .map(|difference| format!("the ledger: {difference}"))
            .collect()
    }

    /// Describes the differences between a report and the expected one if session `lost` was lost.
    pub(super) fn compare_report(
        &self,
        found: &RunReport,
        lost: Option<u32>,
    ) -> (TotalsAccuracy, Vec<String>) {
        let mut expected = self.report.clone();
        let totals = match lost {
            None => TotalsAccuracy::Exact,
            Some(session) => {
                expected.cost.unknown_parts += 1;
                // The lost session took time as well.
                expected.elapsed = found.elapsed;
                TotalsAccuracy::Unknown { session }
            }
        };
        if *found == expected {
            return (totals, Vec::new());
        }
        let all = differences(&json!(expected), &json!(found));
        let problems = all
            .iter()
            .map(|difference| format!("the report: {difference}"));
        (TotalsAccuracy::Wrong, problems.collect())
    }
}

/// Lists the differences between `found` and `expected`, by path.
pub(super) fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut all = Vec::new();
    compare("", expected, found, &mut all);
    all
}

fn compare(path: &str, expected: &Value, found: &Value, all: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                let [one, other] = [one, other].map(|map| map.get(name).unwrap_or(&Value::Null));
                compare(&format!("{path}/{name}"), one, other, all);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{path}/{index}"), one, other, all);
            }
        }
        _ if expected == found => {}
        _ => {
            let path = if path.is_empty() { "it" } else { path };
            all.push(format!("{path} is {found} instead of {expected}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_place_that_differs_is_named_with_both_values() {
        let expected = json!({"a": [{"passed": true}, 2], "b": "x", "same": null});
        let found = json!({"a": [{"passed": false}, 2], "c": 1, "same": null});

        assert_eq!(
            differences(&expected, &found),
            [
                "/a/0/passed is false instead of true",
                "/b is null instead of \"x\"",
                "/c is 1 instead of null",
            ]
        );
        assert_eq!(
            differences(&json!([1]), &json!([1, 2])),
            ["it is [1,2] instead of [1]"]
        );
        assert_eq!(differences(&expected, &expected), Vec::<String>::new());
    }
}
