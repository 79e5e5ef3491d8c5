//! What a model told of a conversation in short.

use crate::agent::prompts;
use crate::contract::{ModelReply, StopReason};

/// What a model told of the middle of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) enum Told {
    /// All that it wanted to.
    Whole(String),
    /// Notes that were cut at their length.
    Cut(String),
    /// Nothing that could be used.
    Nothing,
}

impl Told {
    /// Reads an answer.
    pub(in crate::agent) fn of(reply: &ModelReply) -> Self {
        let text = reply.message.to_text();
        match &reply.stop {
            _ if text.trim().is_empty() => Self::Nothing,
            // What is said then is no summary.
            StopReason::Refused | StopReason::Failed(_) => Self::Nothing,
            StopReason::MaxTokens | StopReason::ContextFull => Self::Cut(text),
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::Paused
            | StopReason::Other(_) => Self::Whole(text),
        }
    }

    /// Returns what stands in the place of what was left out.
    pub(super) fn notes(&self) -> String {
        match self {
            Self::Whole(text) => prompts::summary(text),
            Self::Cut(text) => prompts::cut_summary(text),
            Self::Nothing => prompts::NO_SUMMARY.to_owned(),
        }
    }

    /// Says to people what became of the conversation.
    pub(in crate::agent) fn warning(&self) -> &'static str {
        match self {
            Self::Whole(_) => "the conversation became long and was told in short",
            Self::Cut(_) => {
                "the conversation became long and was told in short; the notes were cut at their \
                 length"
            }
            Self::Nothing => {
                "the conversation became long and its middle was left out: the model did not tell \
                 it in short"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::AssistantMessage;

    #[test]
    fn only_notes_that_are_whole_are_taken_for_that() {
        let notes = || "Two files were read.".to_owned();
        for (text, stop, expected) in [
            (notes(), StopReason::EndTurn, Told::Whole(notes())),
            (notes(), StopReason::MaxTokens, Told::Cut(notes())),
            (notes(), StopReason::ContextFull, Told::Cut(notes())),
            (notes(), StopReason::Refused, Told::Nothing),
            (notes(), StopReason::Failed("x".into()), Told::Nothing),
            (" ".into(), StopReason::EndTurn, Told::Nothing),
            (String::new(), StopReason::MaxTokens, Told::Nothing),
        ] {
            let reply = ModelReply::new(AssistantMessage::text(text)).with_stop(stop);
            assert_eq!(Told::of(&reply), expected, "{reply:?}");
        }
    }
}
