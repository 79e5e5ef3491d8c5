//! What of a journal elsewhere was told.

use autonoe_core::{JournalAsk, JournalEntry, JournalPage, RunId, RunSpec};
use serde_json::Value;

use super::remote::{Heard, Pages};

/// What of a run's journal was told, while the run may move between hosts.
///
/// Another host has the lines of the one before it as far as they travelled, and goes on from there.
/// What it has anew is told, and nothing twice.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What the journal of the run has, as far as is known.
    entries: Vec<JournalEntry>,
    /// The host that is read.
    host: String,
    /// So many of its lines were read.
    read: u64,
}

impl Told {
    fn take(&mut self, page: JournalPage) -> Vec<JournalEntry> {
        if page.next < self.read {
            // It is another journal: it is read from its beginning the next time.
            self.read = 0;
            return Vec::new();
        }
        let mut fresh = Vec::new();
        // Only what is in memory was read.
        let read = usize::try_from(self.read).unwrap_or(usize::MAX);
        for (place, entry) in (read..).zip(page.entries) {
            if self.entries.get(place) == Some(&entry) {
                continue;
            }
            self.entries.truncate(place);
            self.entries.push(entry.clone());
            fresh.push(entry);
        }
        self.read = page.next;
        fresh
    }
}

impl Pages for Told {
    type Item = JournalEntry;

    fn known(&mut self, host: &str) -> u64 {
        if self.host != host {
            self.host = host.to_owned();
            self.read = 0;
        }
        self.read
    }

    fn job(&self, ask: &JournalAsk, id: RunId) -> Result<RunSpec, serde_json::Error> {
        ask.named(id)
    }

    fn hear(&mut self, page: Value) -> Result<Heard<JournalEntry>, serde_json::Error> {
        let page: JournalPage = serde_json::from_value(page)?;
        let is_last = page.is_last && page.next >= self.read;
        let items = self.take(page);
        Ok(Heard { items, is_last })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A page with lines of these epochs.
    fn page(after: u64, epochs: &[u64]) -> JournalPage {
        let entry = |epoch: &u64| {
            json!({"v": 1, "run": "shop", "at": "1970-01-01T00:00:00Z", "line": "flow_resumed",
                "epoch": epoch})
        };
        let entries: Vec<_> = epochs.iter().map(entry).collect();
        let page = json!({"entries": entries, "next": after + epochs.len() as u64, "isLast": true});
        serde_json::from_value(page).expect("a page")
    }

    fn hear(told: &mut Told, host: &str, after: u64, epochs: &[u64]) -> Vec<JournalEntry> {
        assert_eq!(told.known(host), after);
        told.take(page(after, epochs))
    }

    #[test]
    fn lines_are_told_once_and_in_order() {
        let mut told = Told::default();

        let first = hear(&mut told, "one", 0, &[1, 2]);
        let nothing = hear(&mut told, "one", 2, &[]);
        let second = hear(&mut told, "one", 2, &[3]);

        assert_eq!(first, page(0, &[1, 2]).entries);
        assert_eq!(nothing, []);
        assert_eq!(second, page(0, &[3]).entries);
    }

    #[test]
    fn another_host_goes_on_from_what_has_travelled() {
        let mut told = Told::default();
        hear(&mut told, "one", 0, &[1, 2, 3]);

        // The third line was not published.
        let fresh = hear(&mut told, "two", 0, &[1, 2, 4]);
        let more = hear(&mut told, "two", 3, &[5]);

        assert_eq!(fresh, page(0, &[4]).entries);
        assert_eq!(more, page(0, &[5]).entries);
    }

    #[test]
    fn a_journal_that_has_fewer_lines_is_read_again() {
        let mut told = Told::default();
        hear(&mut told, "one", 0, &[1, 2, 3]);
        assert_eq!(told.known("one"), 3);

        let nothing = told.take(page(1, &[]));
        let fresh = hear(&mut told, "one", 0, &[1, 4]);

        assert_eq!(nothing, []);
        assert_eq!(fresh, page(0, &[4]).entries);
    }
}
