//! Compaction of a conversation before it overflows the model's context.
//!
//! The task, later instructions of users and the last messages stay. The model itself summarizes
//! the messages in between. A call is never separated from its result.

use std::fmt::Write;

use crate::agent::conversation::estimate_tokens;
use crate::agent::prompts;
use crate::contract::{Message, ModelReply, ModelRequest, PartKind, StopReason};

/// Plan for the compaction of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Request for the summary of the middle.
    pub(super) summary_request: ModelRequest,
    task: Message,
    /// User instructions from the middle.
    instructions: Vec<String>,
    retained: Vec<Message>,
}

/// Plans a compaction to at most half of `room` tokens. The model can write at most `most` tokens.
///
/// Returns `None` if there is nothing between the task and the messages to keep.
pub(super) fn plan(
    messages: &[Message],
    instructions: &[String],
    room: u64,
    most: u32,
) -> Option<Plan> {
    let (task, rest) = messages.split_first()?;
    // A quarter of the room is for the kept messages, an eighth for the summary, and at most as
    // much for user instructions. The summary request gets half of the room.
    let at = split_point(rest, room / 4);
    let (middle, retained) = rest.split_at_checked(at)?;
    if middle.is_empty() {
        return None;
    }
    let text = transcript(task, middle, room / 2);
    let eighth = u32::try_from(room / 8).unwrap_or(u32::MAX).max(256);
    // Thinking counts as output, so the summary gets all the output that is available.
    let question = ModelRequest::prompt(text)
        .with_system(super::prompts::SUMMARY_SYSTEM.to_owned())
        .with_max_output_tokens(eighth.min(most));
    Some(Plan {
        summary_request: question,
        task: task.clone(),
        instructions: missing_instructions(instructions, retained, room / 8),
        retained: retained.to_vec(),
    })
}

/// Returns the instructions that are not among the kept messages, shortened to about `room` tokens.
fn missing_instructions(instructions: &[String], retained: &[Message], room: u64) -> Vec<String> {
    let is_retained = |instruction: &String| {
        retained
            .iter()
            .any(|message| matches!(message, Message::User { text } if text == instruction))
    };
    let missing: Vec<_> = instructions.iter().filter(|it| !is_retained(it)).collect();
    let bytes = usize::try_from(room.saturating_mul(3)).unwrap_or(usize::MAX);
    let each = bytes / missing.len().max(1);
    missing
        .into_iter()
        .map(|it| truncate_middle(it, each))
        .collect()
}

impl Plan {
    /// Returns the compacted conversation with the summary of the middle.
    pub(super) fn apply(self, summary: &Summary) -> Vec<Message> {
        let notes = summary.notes();
        let notes = if self.instructions.is_empty() {
            notes
        } else {
            super::prompts::with_instructions(&notes, &self.instructions)
        };
        let mut messages = vec![self.task, Message::user(notes)];
        messages.extend(self.retained);
        messages
    }
}

/// Returns the index of the first message to keep: as many messages as fit into `room` tokens, and
/// never a split between an answer and the results of its calls.
fn split_point(messages: &[Message], room: u64) -> usize {
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::agent::conversation::estimate_tokens;
    use crate::contract::{AssistantMessage, MessagePart, ToolResult};

    /// Builds a conversation of rounds with `calls` calls each, whose results have `length` bytes.
    fn conversation(rounds: &[(usize, usize)]) -> Vec<Message> {
        let mut messages = vec![Message::user("Build the thing.")];
        for (round, (calls, length)) in rounds.iter().enumerate() {
            if *calls == 0 {
                messages.push(AssistantMessage::text("Hm.").into());
                messages.push(Message::user("Go on."));
                continue;
            }
            let ids = (0..*calls).map(|call| format!("{round}-{call}"));
            let parts = ids
                .clone()
                .map(|id| MessagePart::tool_call(id, "Read", json!({"path": "a"})));
            messages.push(AssistantMessage::new(parts).into());
            let results = ids.map(|id| ToolResult::ok(id, "Read", "o".repeat(*length)));
            messages.push(Message::results(results));
        }
        messages
    }

    fn assert_paired(messages: &[Message]) {
        let mut open: Vec<String> = Vec::new();
        for message in messages {
            match message {
                Message::Assistant(answer) => {
                    assert!(open.is_empty(), "calls without results: {open:?}");
                    open = answer.calls().map(|(id, _, _)| id.to_owned()).collect();
                }
                Message::Results { results } => {
                    let ids: Vec<_> = results
                        .iter()
                        .map(|result| result.call_id.clone())
                        .collect();
                    assert_eq!(ids, open, "results of other calls");
                    open.clear();
                }
                Message::User { .. } => assert!(open.is_empty(), "calls without results"),
            }
        }
        assert!(open.is_empty());
    }

    #[test]
    fn the_task_stays_first_and_the_last_messages_stay_last() {
        let long = conversation(&[(1, 900), (1, 900), (1, 900), (1, 30)]);

        let plan = plan(&long, &[], 1_000, 500).expect("there is a middle");
        let short = plan.apply(&Summary::Complete("Two files were read.".into()));

        assert_eq!(short.first(), long.first());
        assert_eq!(short.last(), long.last());
        let Some(Message::User { text }) = short.get(1) else {
            panic!("{short:?}")
        };
        assert!(text.contains("Two files were read."), "{text}");
    }

    #[test]
    fn there_is_nothing_to_shorten_in_a_task_alone() {
        assert_eq!(plan(&[], &[], 1_000, 500), None);
        assert_eq!(plan(&conversation(&[]), &[], 1_000, 500), None);
    }

    #[test]
    fn compacts_a_conversation_without_a_summary() {
        let long = conversation(&[(1, 9_000), (1, 30)]);

        let short = plan(&long, &[], 1_000, 500)
            .expect("there is a middle")
            .apply(&Summary::Missing);

        assert!(
            short.iter().map(estimate_tokens).sum::<u64>() < 500,
            "{short:?}"
        );
    }

    #[test]
    fn user_messages_survive_compaction() {
        let mut long = conversation(&[(1, 900)]);
        long.push(Message::user("Do not touch the database."));
        long.extend(conversation(&[(1, 900), (1, 900)]).split_off(1));
        long.push(Message::user("Hurry."));
        let instructions = ["Do not touch the database.".to_owned(), "Hurry.".to_owned()];

        let short = plan(&long, &instructions, 1_000, 500)
            .expect("there is a middle")
            .apply(&Summary::Missing);

        let occurrences = |words: &str| {
            let holds = |message: &&Message| matches!(message, Message::User { text } if text.contains(words));
            short.iter().filter(holds).count()
        };
        assert_eq!(
            (
                occurrences("Do not touch the database."),
                occurrences("Hurry.")
            ),
            (1, 1)
        );
    }

    #[test]
    fn notes_are_no_longer_than_the_model_can_write() {
        let long = conversation(&[(1, 9_000), (1, 30)]);
        for (room, most, expected) in [
            (800, 500, 256),
            (8_000, 500, 500),
            (8_000, 64_000, 1_000),
            (160_000, 64_000, 20_000),
        ] {
            let question = plan(&long, &[], room, most).map(|plan| plan.summary_request);
            let tokens = question.map_or(Some(expected), |question| question.max_output_tokens);
            assert_eq!(tokens, Some(expected), "{room} {most}");
        }
    }

    proptest! {
        #[test]
        fn no_call_is_ever_left_without_its_result(
            rounds in prop::collection::vec((0..4_usize, 0..3_000_usize), 0..12),
            room in 100..20_000_u64,
        ) {
            let long = conversation(&rounds);
            assert_paired(&long);
            let Some(plan) = plan(&long, &[], room, 8_192) else { return Ok(()) };
            let question: u64 = plan.summary_request.messages.iter().map(estimate_tokens).sum();
            prop_assert!(question <= room / 2 + 300, "{question} of {room}");
            let short = plan.apply(&Summary::Complete("All that was done.".into()));
            assert_paired(&short);
            prop_assert_eq!(short.first(), long.first());
            let retained: u64 = short.iter().skip(2).map(estimate_tokens).sum();
            prop_assert!(retained <= room / 4, "{} of {}", retained, room);
        }
    }

    #[test]
    fn as_many_messages_are_retained_as_fit() {
        let answer = || Message::from(AssistantMessage::text("x".repeat(30)));
        let results = || Message::results([ToolResult::ok("c", "", "x".repeat(30))]);
        let messages = [
            answer(),
            results(),
            answer(),
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
