//! [`Answer`]: the result of a recorded call, matched with the call.

use std::collections::{BTreeMap, VecDeque};

use autonoe_core::StreamEvent;
use autonoe_core::tool::ToolStatus;

use super::format::{RecordedItem, RecordedSession};

/// The result of a recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: ToolStatus,
    pub(super) output: String,
    /// The index of the response in the stream.
    pub(super) at: usize,
}

/// Returns the answers in `stream` by the index of their calls.
///
/// A call without a response has no answer. If several calls have the same id, the first response
/// belongs to the first call.
pub(super) fn answers(stream: &[RecordedItem]) -> BTreeMap<usize, Answer> {
    let mut open: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    let mut answers = BTreeMap::new();
    for (at, item) in stream.iter().enumerate() {
        match item {
            RecordedItem::Event(StreamEvent::ToolInvocation { call_id, .. }) => {
                open.entry(call_id).or_default().push_back(at);
            }
            RecordedItem::Event(StreamEvent::ToolResponse {
                call_id,
                output,
                status,
                ..
            }) => {
                let call = open.get_mut(call_id.as_str()).and_then(VecDeque::pop_front);
                if let Some(call) = call {
                    let answer = Answer {
                        status: *status,
                        output: output.clone(),
                        at,
                    };
                    answers.insert(call, answer);
                }
            }
            _ => {}
        }
    }
    answers
}

/// Counts the answered calls of a session.
pub(super) fn answered_calls(session: &RecordedSession) -> usize {
    session
        .turns
        .iter()
        .map(|turn| answers(&turn.stream).len())
        .sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> RecordedItem {
        RecordedItem::Event(StreamEvent::tool_invocation(id, "Task", json!({})))
    }

    fn response(id: &str) -> RecordedItem {
        RecordedItem::Event(StreamEvent::tool_response(id, "done", ToolStatus::Ok))
    }

    fn pairs(stream: &[RecordedItem]) -> Vec<(usize, usize)> {
        let pairs = answers(stream);
        pairs
            .iter()
            .map(|(call, answer)| (*call, answer.at))
            .collect()
    }

    #[test]
    fn responses_find_their_calls_in_any_order() {
        let stream = [call("a"), call("b"), response("b"), response("a")];

        assert_eq!(pairs(&stream), [(0, 3), (1, 2)]);
    }

    #[test]
    fn calls_with_the_same_id_are_answered_in_turn() {
        let stream = [call("a"), call("a"), response("a"), response("a")];

        assert_eq!(pairs(&stream), [(0, 2), (1, 3)]);
    }

    #[test]
    fn unpaired_calls_and_responses_are_left_out() {
        assert_eq!(pairs(&[response("a"), call("b")]), []);
    }
}
