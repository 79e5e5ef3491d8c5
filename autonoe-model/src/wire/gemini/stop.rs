//! Why an answer ends.

use crate::contract::StopReason;

/// Reads a `finishReason`.
pub(super) fn finish_reason(word: &str, has_calls: bool) -> StopReason {
    match word {
        // The API has no word for it.
        "STOP" if has_calls => StopReason::ToolUse,
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::Refused,
        // `MALFORMED_FUNCTION_CALL`, `UNEXPECTED_TOOL_CALL`, `OTHER` and whatever may come: the
        // API has no other word for an answer that is as the model wanted it.
        other => StopReason::Failed(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_known_and_others_are_kept() {
        for (word, has_calls, expected) in [
            ("STOP", false, StopReason::EndTurn),
            ("STOP", true, StopReason::ToolUse),
            ("MAX_TOKENS", true, StopReason::MaxTokens),
            ("SAFETY", false, StopReason::Refused),
            ("RECITATION", false, StopReason::Refused),
            ("LANGUAGE", false, StopReason::Refused),
            ("BLOCKLIST", false, StopReason::Refused),
            ("PROHIBITED_CONTENT", false, StopReason::Refused),
            ("SPII", false, StopReason::Refused),
            ("IMAGE_SAFETY", false, StopReason::Refused),
            (
                "MALFORMED_FUNCTION_CALL",
                false,
                StopReason::Failed("MALFORMED_FUNCTION_CALL".into()),
            ),
            ("OTHER", false, StopReason::Failed("OTHER".into())),
            ("NEW", true, StopReason::Failed("NEW".into())),
        ] {
            assert_eq!(finish_reason(word, has_calls), expected, "{word}");
        }
    }
}
