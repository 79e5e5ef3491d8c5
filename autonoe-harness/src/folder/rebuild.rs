//! Rebuilds the files of a member that are derived from its journal.

use autonoe_core::engine::RunProgress;
use jiff::Timestamp;

use super::journal::{JournalEntry, facts_in, last_epoch, outcome_in};
use super::log::LOG;
use super::{FolderError, MemberFolder, MemberLog, MemberStatus, MemberStatusRecord, status_of};
use crate::strategy::MemberReport;
use crate::work::{RecoveredState, WorkEvent};

/// Files that are derived from the journal.
const DERIVED: [&str; 3] = ["outcome.json", "status.json", LOG];

impl MemberFolder {
    /// Rebuilds the outcome, the status and the log from the journal where they are missing. Does
    /// nothing while a process serves the member: that one is about to write them.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or a file cannot be written.
    pub(super) fn rebuild(&self) -> Result<(), FolderError> {
        if self.is_served()? {
            Ok(())
        } else {
            self.rebuild_served()
        }
    }

    /// Rebuilds missing files, for the process that holds the lock of the member.
    pub(crate) fn rebuild_served(&self) -> Result<(), FolderError> {
        let is_missing = |name: &str| !self.file(name).exists();
        if !DERIVED.into_iter().any(is_missing) {
            return Ok(());
        }
        let entries = self.entries()?;
        if entries.is_empty() {
            return Ok(());
        }
        if is_missing(LOG) {
            self.rebuild_log(&entries)?;
        }
        let at = entries.iter().rev().find_map(JournalEntry::at);
        let work = entries.iter().filter_map(|entry| match entry {
            JournalEntry::Work(event) => Some(&**event),
            JournalEntry::Fact(_) => None,
        });
        let work: Vec<&WorkEvent> = work.collect();
        let spent = work
            .iter()
            .copied()
            .collect::<RecoveredState>()
            .spending()
            .spent;
        let facts = facts_in(entries);
        let outcome = outcome_in(&facts);
        if let Some(outcome) = outcome {
            self.write_outcome(outcome)?;
        }
        if is_missing("status.json") && !facts.is_empty() {
            let result = outcome.map(|outcome| MemberReport::from_outcome(self.id(), outcome));
            let progress = result.map_or(0.0, |result| result.progress);
            let mut at_end = RunProgress::new(progress);
            at_end.spent = outcome.map_or(spent, |outcome| outcome.spent);
            let now = at.unwrap_or(Timestamp::UNIX_EPOCH);
            let mut state = MemberStatusRecord::new(self.id().clone(), last_epoch(&facts), now);
            state.status = outcome.map_or(MemberStatus::Pending, status_of);
            state.process = None;
            state.progress = at_end;
            self.write_state(&state)?;
        }
        Ok(())
    }

    fn rebuild_log(&self, entries: &[JournalEntry]) -> Result<(), FolderError> {
        let mut log = MemberLog::open(self)?;
        let mut at = Timestamp::UNIX_EPOCH;
        for entry in entries {
            at = entry.at().unwrap_or(at);
            if let Some(line) = entry.log_line() {
                log.line(at, &line);
            }
        }
        Ok(())
    }
}
