//! What a resumed run has to have in common with the undisturbed one.

use autonoe_core::{JournalEntry, LedgerState, RunReport};
use serde_json::json;

use super::difference::differences;
use super::report::Totals;
use crate::TempProject;

/// What the undisturbed run left behind.
pub(super) struct Undisturbed {
    pub(super) report: RunReport,
    pub(super) ledger: Option<LedgerState>,
    pub(super) entries: Vec<JournalEntry>,
    journal: String,
}

impl Undisturbed {
    pub(super) fn new(report: RunReport, project: &TempProject) -> Self {
        Self {
            report,
            ledger: project.ledger(),
            entries: project.journal().entries().to_vec(),
            journal: project.journal_text(),
        }
    }

    /// Tells what is wrong with the journal of a run that was killed after `line`:
    /// up to there it must be, byte for byte, the undisturbed one.
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

    /// Tells where the ledger of `project` is not the final one.
    pub(super) fn compare_ledger(&self, project: &TempProject) -> Vec<String> {
        let [expected, found] = [&self.ledger, &project.ledger()].map(|state| json!(state));
        let all = differences(&expected, &found);
        all.iter()
            .map(|what| format!("the ledger: {what}"))
            .collect()
    }

    /// Tells where the report of a run is not what it should be after `lost` was lost.
    pub(super) fn compare_report(
        &self,
        found: &RunReport,
        lost: Option<u32>,
    ) -> (Totals, Vec<String>) {
        let mut expected = self.report.clone();
        let totals = match lost {
            None => Totals::Exact,
            Some(session) => {
                expected.cost.unknown_parts += 1;
                // What was lost took its time, too.
                expected.elapsed = found.elapsed;
                Totals::Unknown { session }
            }
        };
        if *found == expected {
            return (totals, Vec::new());
        }
        let all = differences(&json!(expected), &json!(found));
        let problems = all.iter().map(|what| format!("the report: {what}"));
        (Totals::Wrong, problems.collect())
    }
}
