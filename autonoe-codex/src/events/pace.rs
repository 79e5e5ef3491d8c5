//! How often the model was called.

use std::collections::HashSet;

use super::calls::id_of_call;
use crate::wire::{Item, Notice};

/// How often the model was called in a turn, and whether it is about to be called again.
///
/// What one call wants done begins before it is said what the call used. Whatever begins after
/// that is of the next call.
///
/// ```
/// use autonoe_codex::events::Pace;
///
/// let mut pace = Pace::default();
/// pace.answered();
///
/// // It said something and wanted nothing done, so the turn is about to end.
/// assert!(!pace.is_beyond(1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pace {
    calls: u32,
    /// Calls of tools that the current call of the model has begun.
    begun: u32,
    /// Whether the last call of the model began any, so that it is called again.
    has_tools: bool,
    /// Calls of tools that are not over.
    open: HashSet<String>,
    /// Whether anything came of a call of the model that is not answered yet.
    has_more: bool,
}

impl Pace {
    /// Takes note of what comes of a call of the model.
    pub fn observe(&mut self, notice: &Notice) {
        match notice {
            Notice::ItemStarted(Item::Other(_)) => {}
            Notice::ItemStarted(item) => {
                self.has_more = true;
                if let Some(id) = id_of_call(item) {
                    self.begun += 1;
                    self.open.insert(id.to_owned());
                }
            }
            Notice::ItemCompleted(item) => {
                if let Some(id) = id_of_call(item) {
                    self.open.remove(id);
                }
            }
            _ => {}
        }
    }

    /// Takes note that a call of the model is over.
    pub fn answered(&mut self) {
        self.calls += 1;
        self.has_tools = std::mem::take(&mut self.begun) > 0;
        self.has_more = false;
    }

    /// Returns how often the model was called and has answered.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Tells whether the model has been called `most` times, and all that it wanted is done but
    /// it is about to be called again.
    pub fn is_beyond(&self, most: u32) -> bool {
        self.calls > most
            || self.calls == most && (self.has_more || self.has_tools && self.open.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn begins(kind: &str, id: &str) -> Notice {
        Notice::ItemStarted(Item::read(&json!({"type": kind, "id": id})))
    }

    fn ends(kind: &str, id: &str) -> Notice {
        Notice::ItemCompleted(Item::read(&json!({"type": kind, "id": id})))
    }

    #[test]
    fn what_the_last_call_wanted_is_done_before_it_is_beyond() {
        let mut pace = Pace::default();
        for notice in [begins("commandExecution", "1"), begins("fileChange", "2")] {
            pace.observe(&notice);
        }
        pace.answered();
        assert!(!pace.is_beyond(1), "both are under way");

        pace.observe(&ends("commandExecution", "1"));
        assert!(!pace.is_beyond(1), "one is under way");

        pace.observe(&ends("fileChange", "2"));
        assert!(pace.is_beyond(1), "the model is called again");
        assert!(!pace.is_beyond(2));
    }

    #[test]
    fn a_call_that_is_done_before_the_answer_is_whole_counts_as_well() {
        let mut pace = Pace::default();
        pace.observe(&begins("dynamicToolCall", "1"));
        pace.observe(&ends("dynamicToolCall", "1"));
        assert!(!pace.is_beyond(1));

        pace.answered();

        assert!(pace.is_beyond(1));
    }

    #[test]
    fn anything_new_is_of_the_next_call() {
        for kind in ["agentMessage", "reasoning", "mcpToolCall"] {
            let mut pace = Pace::default();
            pace.answered();
            assert!(!pace.is_beyond(1), "{kind}");

            pace.observe(&begins(kind, "2"));

            assert!(pace.is_beyond(1), "{kind}");
        }
    }

    #[test]
    fn words_of_the_host_are_of_no_call() {
        let mut pace = Pace::default();
        pace.answered();

        pace.observe(&begins("userMessage", "2"));

        assert!(!pace.is_beyond(1));
    }
}
