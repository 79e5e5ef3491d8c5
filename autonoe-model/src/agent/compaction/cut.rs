//! Where a conversation may be cut.

use crate::agent::conversation::size_of;
use crate::contract::Message;

/// Returns where the part begins that is kept: as much as fits into `room`, and never between
/// an answer and the results of its calls.
pub(super) fn cut(messages: &[Message], room: u64) -> usize {
    let mut at = messages.len();
    let mut size = 0_u64;
    for (index, message) in messages.iter().enumerate().rev() {
        size = size.saturating_add(size_of(message));
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

        // Each has 18 tokens.
        for (room, expected) in [
            (0, 5),
            (18, 4),
            (36, 4),
            (54, 2),
            (72, 2),
            (90, 0),
            (999, 0),
        ] {
            assert_eq!(cut(&messages, room), expected, "{room}");
        }
    }
}
