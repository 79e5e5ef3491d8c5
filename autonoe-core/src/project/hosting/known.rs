//! The record of one session in a journal.

use crate::domain::{SessionKey, SessionResult};
use crate::project::Journal;
use crate::run::JournalLine;

/// The record of one session in a journal.
pub(super) struct Known {
    /// What it came to, if that is recorded.
    pub(super) result: Option<SessionResult>,
    /// How often it began beside that.
    pub(super) lost: u32,
}

impl Known {
    pub(super) fn of(key: &SessionKey, journal: &Journal) -> Self {
        let result = journal.session_result(key).cloned();
        let of_run = journal
            .entries()
            .iter()
            .filter(|entry| entry.run == key.run);
        let begun = of_run.filter(|entry| {
            let JournalLine::SessionStarted { number, .. } = &entry.line else {
                return false;
            };
            *number == key.number
        });
        let begun = u32::try_from(begun.count()).unwrap_or(u32::MAX);
        let lost = begun.saturating_sub(u32::from(result.is_some()));
        Self { result, lost }
    }
}
