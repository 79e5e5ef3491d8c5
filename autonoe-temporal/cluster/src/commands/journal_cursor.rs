//! Reading position in the journal of a run that may move between hosts.

use autonoe_core::project::{JournalEntry, JournalPage};

/// Reading position in the journal of a run that may move between hosts.
///
/// The next host has the lines that were published from the previous one, and appends its own. The
/// cursor returns each line once.
#[derive(Debug, Default)]
pub(super) struct JournalCursor {
    /// The known lines of the journal.
    entries: Vec<JournalEntry>,
    /// The host that is read.
    host: String,
    /// The number of lines that were read there.
    read: u64,
}

impl JournalCursor {
    /// Returns the number of lines that are known of the journal on `host`.
    pub(super) fn position(&mut self, host: &str) -> u64 {
        if self.host != host {
            self.host = host.to_owned();
            self.read = 0;
        }
        self.read
    }

    /// Adds a page that follows the position, and returns its new lines.
    pub(super) fn advance(&mut self, page: JournalPage) -> Vec<JournalEntry> {
        if page.next < self.read {
            // The journal was replaced. The next page starts at its beginning.
            self.read = 0;
            return Vec::new();
        }
        let mut fresh = Vec::new();
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

    fn read(
        cursor: &mut JournalCursor,
        host: &str,
        after: u64,
        epochs: &[u64],
    ) -> Vec<JournalEntry> {
        assert_eq!(cursor.position(host), after);
        cursor.advance(page(after, epochs))
    }

    #[test]
    fn returns_each_line_once_and_in_order() {
        let mut cursor = JournalCursor::default();

        let first = read(&mut cursor, "one", 0, &[1, 2]);
        let nothing = read(&mut cursor, "one", 2, &[]);
        let second = read(&mut cursor, "one", 2, &[3]);

        assert_eq!(first, page(0, &[1, 2]).entries);
        assert_eq!(nothing, []);
        assert_eq!(second, page(0, &[3]).entries);
    }

    #[test]
    fn continues_on_another_host_after_the_published_lines() {
        let mut cursor = JournalCursor::default();
        read(&mut cursor, "one", 0, &[1, 2, 3]);

        // The third line was not published.
        let fresh = read(&mut cursor, "two", 0, &[1, 2, 4]);
        let more = read(&mut cursor, "two", 3, &[5]);

        assert_eq!(fresh, page(0, &[4]).entries);
        assert_eq!(more, page(0, &[5]).entries);
    }

    #[test]
    fn rereads_a_journal_that_became_shorter() {
        let mut cursor = JournalCursor::default();
        read(&mut cursor, "one", 0, &[1, 2, 3]);
        assert_eq!(cursor.position("one"), 3);

        let nothing = cursor.advance(page(1, &[]));
        let fresh = read(&mut cursor, "one", 0, &[1, 4]);

        assert_eq!(nothing, []);
        assert_eq!(fresh, page(0, &[4]).entries);
    }
}
