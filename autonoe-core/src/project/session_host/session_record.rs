//! [`SessionRecord`], the record of one session in a journal.

use crate::agent::SessionReport;
use crate::project::Journal;
use crate::run::JournalLine;
use crate::time::SessionKey;

/// The record of one session in a journal.
pub(super) struct SessionRecord {
    /// The result, if it is recorded.
    pub(super) result: Option<SessionReport>,
    /// The number of starts without a recorded result.
    pub(super) lost: u32,
}

impl SessionRecord {
    pub(super) fn from_journal(key: &SessionKey, journal: &Journal) -> Self {
        let result = journal.session_result(key).cloned();
        let run_entries = journal
            .entries()
            .iter()
            .filter(|entry| entry.run == key.run);
        let starts = run_entries.filter(|entry| {
            let JournalLine::SessionStarted { number, .. } = &entry.line else {
                return false;
            };
            *number == key.number
        });
        let starts = u32::try_from(starts.count()).unwrap_or(u32::MAX);
        let lost = starts.saturating_sub(u32::from(result.is_some()));
        Self { result, lost }
    }
}
