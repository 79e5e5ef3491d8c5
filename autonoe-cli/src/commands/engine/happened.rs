//! What observers of a run elsewhere were told.

use std::collections::HashMap;

use autonoe_core::{EventsPage, JournalAsk, RecordedEvent, RunId, RunSpec};
use serde_json::Value;

use super::remote::{Heard, Pages};

/// How far what happened on each host was read. It does not travel with the run: each host has what
/// happened there.
#[derive(Debug, Default)]
pub(super) struct Happened {
    read: HashMap<String, u64>,
    /// The host that is read.
    host: String,
}

impl Pages for Happened {
    type Item = RecordedEvent;

    fn known(&mut self, host: &str) -> u64 {
        host.clone_into(&mut self.host);
        self.read.get(host).copied().unwrap_or_default()
    }

    fn job(&self, ask: &JournalAsk, id: RunId) -> Result<RunSpec, serde_json::Error> {
        ask.for_events(id)
    }

    fn hear(&mut self, page: Value) -> Result<Heard<RecordedEvent>, serde_json::Error> {
        let page: EventsPage = serde_json::from_value(page)?;
        let known = self.read.insert(self.host.clone(), page.next);
        // Less than is known: the events are others, and are read from their beginning.
        let is_last = page.is_last && known.unwrap_or_default() <= page.next;
        let items = page.events.into_iter().filter_map(understood).collect();
        Ok(Heard { items, is_last })
    }
}

/// Reads an event. One that is not understood is of a later version, and the others are told.
fn understood(event: Value) -> Option<RecordedEvent> {
    serde_json::from_value(event)
        .inspect_err(|error| tracing::warn!(%error, "something that happened is not understood"))
        .ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(next: u64, message: &str) -> Value {
        let event = json!({"at": "2026-01-01T00:00:00Z", "event": "warning", "message": message,
            "traceId": format!("{:032x}", 1), "spanId": format!("{:016x}", 1)});
        json!({"events": [event], "next": next, "isLast": true})
    }

    #[test]
    fn a_run_that_comes_back_to_a_host_is_read_on_from_where_it_was() {
        let mut happened = Happened::default();
        assert_eq!(happened.known("one"), 0);
        let heard = happened.hear(page(7, "a")).expect("a page");
        assert_eq!((heard.items.len(), heard.is_last), (1, true));

        assert_eq!(happened.known("two"), 0);
        happened.hear(page(3, "b")).expect("a page");

        assert_eq!(happened.known("one"), 7);
    }

    #[test]
    fn what_is_not_understood_is_passed_over_and_the_rest_is_told() {
        let mut happened = Happened::default();
        happened.known("one");
        let mut page = page(7, "a");
        let strange = json!({"event": "warning"});
        page["events"]
            .as_array_mut()
            .expect("a list")
            .insert(0, strange);

        let heard = happened.hear(page).expect("a page");

        assert_eq!(heard.items.len(), 1);
    }

    #[test]
    fn events_that_are_others_than_they_were_are_read_again() {
        let mut happened = Happened::default();
        happened.known("one");
        happened.hear(page(7, "a")).expect("a page");
        happened.known("one");

        let nothing = json!({"events": [], "next": 0, "isLast": true});
        let heard = happened.hear(nothing).expect("a page");

        assert!(!heard.is_last);
        assert_eq!(happened.known("one"), 0);
    }
}
