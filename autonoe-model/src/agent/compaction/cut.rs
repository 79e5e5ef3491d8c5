//! Split point of a conversation for compaction.

use crate::agent::conversation::estimate_tokens;
use crate::contract::Message;

/// Returns the index of the first message to keep: as many messages as fit into `room` tokens, and
/// never a split between an answer and the results of its calls.
pub(super) fn split_point(messages: &[Message], room: u64) -> usize {
    let mut at = messages.len();
    let mut size = 0_u64;
    for (index, message) in messages.iter().enumerate().rev() {
        size = size.saturating_add(estimate_tokens(message));
        if size > room {
            break;
        }
        if !matches!(message, Message::Results { .. }) {
            at = index;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{AssistantMessage, ToolResult};

    #[test]
    fn as_much_is_kept_as_fits() {
        let said = || Message::from(AssistantMessage::text("x".repeat(30)));
        let results = || Message::results([ToolResult::ok("c", "", "x".repeat(30))]);
        let messages = [
            said(),
            results(),
            said(),
            results(),
            Message::user("x".repeat(30)),
        ];

        // Each message has 18 tokens.
        for (room, expected) in [
            (0, 5),
            (18, 4),
            (36, 4),
            (54, 2),
            (72, 2),
            (90, 0),
            (999, 0),
        ] {
            assert_eq!(split_point(&messages, room), expected, "{room}");
        }
    }
}
