//! Why a message ends.

use crate::contract::StopReason;

/// Reads a `stop_reason`.
pub(super) fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "model_context_window_exceeded" => StopReason::ContextFull,
        "refusal" => StopReason::Refused,
        "pause_turn" => StopReason::Paused,
        other => StopReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_known_and_others_are_kept() {
        for (word, expected) in [
            ("end_turn", StopReason::EndTurn),
            ("stop_sequence", StopReason::EndTurn),
            ("tool_use", StopReason::ToolUse),
            ("max_tokens", StopReason::MaxTokens),
            ("model_context_window_exceeded", StopReason::ContextFull),
            ("refusal", StopReason::Refused),
            ("pause_turn", StopReason::Paused),
            ("new_reason", StopReason::Other("new_reason".into())),
        ] {
            assert_eq!(stop_reason(word), expected, "{word}");
        }
    }
}
