//! A conversation as one text, for a model that is to tell it in short.

use std::fmt::Write;

use crate::agent::prompts;
use crate::contract::{Message, ModelReply, PartKind, StopReason};

/// The most that is told of one input or output.
const LONGEST: usize = 2_000;

/// Tells `middle` as one text of about `room` tokens at most; if it is longer, the older parts
/// are left out.
pub(super) fn transcript(task: &Message, middle: &[Message], room: u64) -> String {
    let room = usize::try_from(room.saturating_mul(3)).unwrap_or(usize::MAX);
    let task = match task {
        Message::User { text } => shortened(text, room / 4),
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
    let mut told = String::new();
    if first > 0 {
        told.push_str("[what came before is left out]\n");
    }
    told.extend(entries.into_iter().skip(first));
    crate::agent::prompts::summary_question(&task, &told)
}

fn entry(message: &Message) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = match message {
        Message::User { text: said } => writeln!(text, "Person: {}", shortened(said, LONGEST)),
        Message::Assistant(said) => {
            for part in &said.parts {
                let _ = match &part.kind {
                    PartKind::Text { text: words } => {
                        writeln!(text, "Agent: {}", shortened(words, LONGEST))
                    }
                    PartKind::ToolCall { name, input, .. } => {
                        let input = input.to_string();
                        writeln!(text, "Agent calls {name}: {}", shortened(&input, LONGEST))
                    }
                    PartKind::Thinking { .. } | PartKind::Opaque => Ok(()),
                };
            }
            Ok(())
        }
        Message::Results { results } => {
            for result in results {
                let how = if result.is_error { "failed" } else { "gave" };
                let output = shortened(&result.output, LONGEST);
                let _ = writeln!(text, "{} {how}: {output}", result.name);
            }
            Ok(())
        }
    };
    text
}

/// Returns the beginning and the end of a text that is too long.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let half = longest / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    format!("{}\n[.. cut ..]\n{}", &text[..head], &text[tail..])
}

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
    use serde_json::json;

    use super::*;
    use crate::contract::{AssistantMessage, Part, ToolResult};

    #[test]
    fn a_conversation_is_told_with_its_calls_and_what_became_of_them() {
        let middle = [
            AssistantMessage::new([
                Part::thinking("secret"),
                Part::text("I look."),
                Part::tool_call("1", "Read", json!({"file_path": "a"})),
            ])
            .into(),
            Message::results([ToolResult::failed("1", "Read", "there is no such file")]),
            Message::user("Hurry."),
        ];

        let told = transcript(&Message::user("Build it."), &middle, 1_000);

        assert!(told.contains("Build it."), "{told}");
        let expected = "Agent: I look.\nAgent calls Read: {\"file_path\":\"a\"}\n\
                        Read failed: there is no such file\nPerson: Hurry.\n";
        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }

    #[test]
    fn the_older_parts_are_left_out_when_there_is_no_room() {
        let middle: Vec<_> = (0..50)
            .map(|number| Message::user(format!("{number} {}", "x".repeat(100))))
            .collect();

        let told = transcript(&Message::user("Build it."), &middle, 1_000);

        assert!(
            told.contains("left out") && told.contains("Person: 49 "),
            "{told}"
        );
        assert!(!told.contains("Person: 0 "), "{told}");
    }

    #[test]
    fn a_text_that_is_too_long_keeps_both_ends_and_whole_letters() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöüß", 4), "ä\n[.. cut ..]\nß");
    }

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
