//! Property tests with damaged recorded lines and with random lines.

use std::sync::LazyLock;

use autonoe_claude::events::Translator;
use autonoe_claude::outcome::{Exit, HostAction};
use autonoe_claude::wire::{Line, LineReader};
use autonoe_core::StreamEvent;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value};

use crate::transcript::program_lines;

static RECORDED: LazyLock<Vec<String>> = LazyLock::new(program_lines);

/// A damage to the bytes of a line.
#[derive(Clone, Debug)]
enum Damage {
    Sets(Index, u8),
    Removes(Index, usize),
    Inserts(Index, Vec<u8>),
    Repeats(Index, usize),
    Cuts(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(b"{}[]\",:\\u0n\n".to_vec())
    ];
    prop_oneof![
        (any::<Index>(), byte.clone()).prop_map(|(at, byte)| Damage::Sets(at, byte)),
        (any::<Index>(), 1_usize..20).prop_map(|(at, many)| Damage::Removes(at, many)),
        (any::<Index>(), prop::collection::vec(byte, 1..8))
            .prop_map(|(at, bytes)| Damage::Inserts(at, bytes)),
        (any::<Index>(), 1_usize..50).prop_map(|(at, many)| Damage::Repeats(at, many)),
        any::<Index>().prop_map(Damage::Cuts),
    ]
}

fn damaged(line: &str, damages: &[Damage]) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for damage in damages {
        if bytes.is_empty() {
            break;
        }
        let place = |at: &Index| at.index(bytes.len());
        match damage {
            Damage::Sets(at, byte) => {
                let at = place(at);
                bytes[at] = *byte;
            }
            Damage::Removes(at, many) => {
                let at = place(at);
                let end = (at + many).min(bytes.len());
                bytes.drain(at..end);
            }
            Damage::Inserts(at, inserted) => {
                let at = place(at);
                bytes.splice(at..at, inserted.iter().copied());
            }
            Damage::Repeats(at, many) => {
                let at = place(at);
                let part = bytes[at..(at + many).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            Damage::Cuts(at) => bytes.truncate(place(at)),
        }
    }
    bytes
}

/// Processes lines completely, and returns whether the session ended successfully.
fn is_processed_to_the_end(bytes: &[u8], exit: Option<Exit>) -> bool {
    let mut reader = LineReader::new();
    reader.feed(bytes);
    let lines = reader.finish().expect("short lines");
    let mut translator = Translator::new();
    translator.start_query();
    let mut events = Vec::new();
    for line in &lines {
        translator.observe(&line.parse(), &mut events);
        let _ = translator.phase();
    }
    let now = "2026-11-15T00:00:00Z".parse().expect("a time");
    let finished = translator.finish(exit, "", now);
    matches!(finished.end, Ok(StreamEvent::End { .. }))
}

/// Any JSON that contains keys and texts of the protocol.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "type",
        "subtype",
        "system",
        "assistant",
        "user",
        "result",
        "message",
        "content",
        "text",
        "tool_use",
        "tool_result",
        "id",
        "name",
        "input",
        "tool_use_id",
        "request_id",
        "request",
        "response",
        "control_request",
        "control_response",
        "control_cancel_request",
        "hook_callback",
        "mcp_message",
        "can_use_tool",
        "init",
        "success",
        "is_error",
        "errors",
        "rate_limit_event",
        "rate_limit_info",
        "status",
        "rejected",
        "resetsAt",
        "task_started",
        "task_updated",
        "task_notification",
        "background_tasks_changed",
        "task_id",
        "tasks",
        "patch",
        "completed",
        "session_state_changed",
        "state",
        "idle",
        "running",
        "api_retry",
        "usage",
        "modelUsage",
        "inputTokens",
        "total_cost_usd",
        "error_during_execution",
    ])
    .prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn damaged_lines_do_no_harm(
        lines in prop::collection::vec((any::<Index>(), prop::collection::vec(damage(), 0..4)), 1..12),
        code in prop::option::of(0_i32..3),
    ) {
        let mut bytes = Vec::new();
        for (line, damages) in &lines {
            bytes.extend(damaged(line.get(RECORDED.as_slice()).as_str(), damages));
            bytes.push(b'\n');
        }

        is_processed_to_the_end(&bytes, code.map(Exit::Code));
    }

    #[test]
    fn any_json_message_is_handled_without_panic(messages in prop::collection::vec(any_json(), 1..12)) {
        let mut text = String::new();
        for message in messages {
            text.push_str(&message.to_string());
            text.push('\n');
        }

        is_processed_to_the_end(text.as_bytes(), None);
    }

    #[test]
    fn a_session_cut_off_before_its_result_is_never_a_success(
        start in any::<Index>(),
        many in 1_usize..30,
        cut in any::<Index>(),
    ) {
        let start = start.index(RECORDED.len());
        let until_result = RECORDED[start..]
            .iter()
            .take(many)
            .take_while(|line| Line::from_text(line.as_str()).is_ok_and(|line| line.type_name() != "result"));
        let mut bytes: Vec<u8> = until_result.flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
        // A truncated result does not count.
        let result = br#"{"type":"result","subtype":"success","is_error":false}"#;
        bytes.extend_from_slice(&result[..cut.index(result.len())]);
        let rejected = bytes.windows(8).any(|part| part == b"rejected");

        let ended = is_processed_to_the_end(&bytes, Some(Exit::Code(0)));

        prop_assert!(!ended || rejected, "{}", bytes.escape_ascii());
    }

    #[test]
    fn the_type_is_found_in_any_order_of_the_keys(line in any::<Index>(), order in any::<u64>(), blanks in any::<bool>()) {
        let line = Line::from_text(line.get(RECORDED.as_slice()).as_str()).expect("a line");
        let Ok(Value::Object(fields)) = serde_json::from_slice(line.raw()) else {
            return Ok(());
        };
        let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
        let turn = usize::try_from(order % 1000).expect("small") % fields.len().max(1);
        fields.rotate_left(turn);
        if order % 2 == 0 {
            fields.reverse();
        }
        let space = if blanks { " \t " } else { "" };
        let fields: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("{space}{}{space}:{space}{value}{space}", Value::from(key.as_str())))
            .collect();

        let other = Line::from_text(format!("{{{}}}", fields.join(","))).expect("a line");

        prop_assert_eq!((other.type_name(), other.subtype()), (line.type_name(), line.subtype()));
    }

    #[test]
    fn actions_of_the_host_in_between_do_no_harm(
        steps in prop::collection::vec((any::<Index>(), 0_u8..12), 1..60),
    ) {
        let mut translator = Translator::new();
        let mut events = Vec::new();
        let now = "2026-11-15T00:00:00Z".parse().expect("a time");
        for (line, action) in steps {
            match action {
                0 => translator.start_query(),
                1 => translator.record_stop(HostAction::Stopped),
                2 => translator.record_stop(HostAction::GaveUp),
                3 => translator.record_denial("toolu"),
                4 => {
                    let _ = translator.finish(Some(Exit::Signal(9)), "bye", now);
                }
                _ => {
                    let line = Line::from_text(line.get(RECORDED.as_slice()).as_str()).expect("a line");
                    translator.observe(&line.parse(), &mut events);
                }
            }
            let _ = translator.phase();
        }
    }
}
