//! Text transcript of a conversation for its summary, and the summary itself.

use std::fmt::Write;

use crate::agent::prompts;
use crate::contract::{Message, ModelReply, PartKind, StopReason};

/// Maximum length of one input or output in bytes.
const MAX_ENTRY_BYTES: usize = 2_000;

/// Renders `middle` as a text of about `room` tokens at most. If it is longer, the oldest parts are
/// left out.
pub(super) fn transcript(task: &Message, middle: &[Message], room: u64) -> String {
    let room = usize::try_from(room.saturating_mul(3)).unwrap_or(usize::MAX);
    let task = match task {
        Message::User { text } => truncate_middle(text, room / 4),
        _ => String::new(),
    };
    let entries: Vec<String> = middle.iter().map(entry).collect();
    let mut left = room.saturating_sub(task.len() + 600);
    let mut first = entries.len();
    for (index, entry) in entries.iter().enumerate().rev() {
        match left.checked_sub(entry.len()) {
            Some(rest) => left = rest,
            None => break,
        }
        first = index;
    }
    let mut text = String::new();
    if first > 0 {
        text.push_str("[earlier messages are left out]\n");
    }
    text.extend(entries.into_iter().skip(first));
    crate::agent::prompts::summary_question(&task, &text)
}

fn entry(message: &Message) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = match message {
        Message::User { text: prompt } => {
            writeln!(text, "Person: {}", truncate_middle(prompt, MAX_ENTRY_BYTES))
        }
        Message::Assistant(answer) => {
            for part in &answer.parts {
                let _ = match &part.kind {
                    PartKind::Text { text: words } => {
                        writeln!(text, "Agent: {}", truncate_middle(words, MAX_ENTRY_BYTES))
                    }
                    PartKind::ToolCall { name, input, .. } => {
                        let input = input.to_string();
                        writeln!(
                            text,
                            "Agent calls {name}: {}",
                            truncate_middle(&input, MAX_ENTRY_BYTES)
                        )
                    }
                    PartKind::Thinking { .. } | PartKind::Opaque => Ok(()),
                };
            }
            Ok(())
        }
        Message::Results { results } => {
            for result in results {
                let verb = if result.is_error { "failed" } else { "gave" };
                let output = truncate_middle(&result.output, MAX_ENTRY_BYTES);
                let _ = writeln!(text, "{} {verb}: {output}", result.name);
            }
            Ok(())
        }
    };
    text
}

/// Returns the beginning and the end of a text that is too long.
pub(super) fn truncate_middle(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let half = longest / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    format!("{}\n[.. cut ..]\n{}", &text[..head], &text[tail..])
}

/// Summary of the middle of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) enum Summary {
    /// Complete summary.
    Complete(String),
    /// Summary that was cut at the output limit.
    Truncated(String),
    /// No usable summary.
    Missing,
}

impl Summary {
    /// Reads the summary from an answer.
    pub(in crate::agent) fn from_reply(reply: &ModelReply) -> Self {
        let text = reply.message.to_text();
        match &reply.stop {
            _ if text.trim().is_empty() => Self::Missing,
            // The text of a refusal is no summary.
            StopReason::Refused | StopReason::Failed(_) => Self::Missing,
            StopReason::MaxTokens | StopReason::ContextFull => Self::Truncated(text),
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::Paused
            | StopReason::Other(_) => Self::Complete(text),
        }
    }

    /// Returns the text that replaces the removed messages.
    pub(super) fn notes(&self) -> String {
        match self {
            Self::Complete(text) => prompts::summary(text),
            Self::Truncated(text) => prompts::cut_summary(text),
            Self::Missing => prompts::NO_SUMMARY.to_owned(),
        }
    }

    /// Returns the warning for the operator.
    pub(in crate::agent) fn warning(&self) -> &'static str {
        match self {
            Self::Complete(_) => "the conversation became too long and was summarised",
            Self::Truncated(_) => {
                "the conversation became too long and was summarised; the summary was cut at \
                 its length limit"
            }
            Self::Missing => {
                "the conversation became too long and its middle was removed: the model did not \
                 summarise it"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::{AssistantMessage, MessagePart, ToolResult};

    #[test]
    fn a_conversation_is_exported_with_its_calls_and_their_results() {
        let middle = [
            AssistantMessage::new([
                MessagePart::thinking("secret"),
                MessagePart::text("I look."),
                MessagePart::tool_call("1", "Read", json!({"file_path": "a"})),
            ])
            .into(),
            Message::results([ToolResult::failed("1", "Read", "there is no such file")]),
            Message::user("Hurry."),
        ];

        let text = transcript(&Message::user("Build it."), &middle, 1_000);

        assert!(text.contains("Build it."), "{text}");
        let expected = "Agent: I look.\nAgent calls Read: {\"file_path\":\"a\"}\n\
                        Read failed: there is no such file\nPerson: Hurry.\n";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn the_older_parts_are_left_out_when_there_is_no_room() {
        let middle: Vec<_> = (0..50)
            .map(|number| Message::user(format!("{number} {}", "x".repeat(100))))
            .collect();

        let text = transcript(&Message::user("Build it."), &middle, 1_000);

        assert!(
            text.contains("left out") && text.contains("Person: 49 "),
            "{text}"
        );
        assert!(!text.contains("Person: 0 "), "{text}");
    }

    #[test]
    fn a_long_text_is_cut_in_the_middle_between_characters() {
        assert_eq!(truncate_middle("abc", 3), "abc");
        assert_eq!(truncate_middle("äöüß", 4), "ä\n[.. cut ..]\nß");
    }

    #[test]
    fn only_complete_notes_count_as_notes() {
        let notes = || "Two files were read.".to_owned();
        for (text, stop, expected) in [
            (notes(), StopReason::EndTurn, Summary::Complete(notes())),
            (notes(), StopReason::MaxTokens, Summary::Truncated(notes())),
            (
                notes(),
                StopReason::ContextFull,
                Summary::Truncated(notes()),
            ),
            (notes(), StopReason::Refused, Summary::Missing),
            (notes(), StopReason::Failed("x".into()), Summary::Missing),
            (" ".into(), StopReason::EndTurn, Summary::Missing),
            (String::new(), StopReason::MaxTokens, Summary::Missing),
        ] {
            let reply = ModelReply::new(AssistantMessage::text(text)).with_stop(stop);
            assert_eq!(Summary::from_reply(&reply), expected, "{reply:?}");
        }
    }
}
