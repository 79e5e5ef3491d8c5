//! Recorded messages in which one value has another type.

use std::collections::BTreeSet;

use autonoe_claude::wire::{Line, Message};
use serde_json::{Value, json};

use crate::transcript::program_lines;

/// Large parts of messages that are not parsed.
const UNREAD: [&str; 8] = [
    "/response/response",
    "/event",
    "/tool_use_result",
    "/model_usage_since_last_result",
    "/subagent_stats",
    "/usage/cache_creation",
    "/message/usage",
    "/request/input/tool_input",
];

/// Returns one recorded message of each kind.
fn messages() -> Vec<Value> {
    let mut shapes = BTreeSet::new();
    let lines = program_lines().into_iter();
    lines
        .filter_map(|line| {
            let line = Line::from_text(line).expect("a line");
            let mut message: Value = serde_json::from_slice(line.raw()).ok()?;
            for unread in UNREAD {
                if let Some(part) = message.pointer_mut(unread) {
                    *part = json!({});
                }
            }
            let name = format!("{} {:?}", line.type_name(), line.subtype());
            shapes.insert((name, paths(&message))).then_some(message)
        })
        .collect()
}

/// Returns the paths of all values in `value`, with at most two elements of each list.
fn paths(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let mut put = |key: String, inner: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        all.push(format!("/{key}"));
        all.extend(paths(inner).iter().map(|path| format!("/{key}{path}")));
    };
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, inner)| put(key.clone(), inner)),
        Value::Array(list) => {
            let first = list.iter().take(2).enumerate();
            first.for_each(|(index, inner)| put(index.to_string(), inner));
        }
        _ => {}
    }
    all
}

fn read(message: &Value) -> (String, Option<String>, String) {
    let line = Line::from_text(message.to_string()).expect("a line");
    let id = match line.parse() {
        Message::Unreadable { reason } => format!("unreadable: {reason}"),
        Message::ControlRequest(request) => request.request_id.to_string(),
        Message::ControlResponse(response) => response.request_id.to_string(),
        Message::ControlCancel(cancel) => cancel.request_id.to_string(),
        _ => String::new(),
    };
    let name = line.type_name().to_owned();
    (name, line.subtype().map(str::to_owned), id)
}

/// Returns whether a path is essential for the kind of a message.
fn carries_the_meaning(path: &str) -> bool {
    matches!(
        path,
        "/type" | "/subtype" | "/request_id" | "/response" | "/response/request_id"
    )
}

#[test]
fn anything_may_have_any_shape_and_the_message_is_still_read() {
    let others = [
        json!(null),
        json!(true),
        json!(7),
        json!(-1.5),
        json!("text"),
        json!([]),
        json!([null, 7, "text", {"type": "text"}]),
        json!({}),
        json!({"type": 7, "content": {}}),
    ];
    let mut tried = 0;
    for message in messages() {
        let before = read(&message);
        for path in paths(&message) {
            if carries_the_meaning(&path) {
                continue;
            }
            for other in &others {
                let mut changed = message.clone();
                *changed.pointer_mut(&path).expect("a place") = other.clone();

                assert_eq!(read(&changed), before, "{path} became {other} in {message}");
                tried += 1;
            }
        }
    }
    assert!(tried > 10_000, "only {tried} changes were tried");
}

#[test]
fn anything_may_be_missing_and_the_message_is_still_read() {
    for message in messages() {
        let before = read(&message);
        for path in paths(&message) {
            let (parent, key) = path.rsplit_once('/').expect("a path");
            let mut changed = message.clone();
            let Some(Value::Object(fields)) = changed.pointer_mut(parent) else {
                continue;
            };
            if carries_the_meaning(&path) {
                continue;
            }
            fields.remove(&key.replace("~1", "/").replace("~0", "~"));

            assert_eq!(read(&changed), before, "{path} is missing in {message}");
        }
    }
}

#[test]
fn unknown_fields_do_not_change_the_parsed_message() {
    let deep: Value = (0..100).fold(json!(1), |inner, _| json!([inner]));
    for message in messages() {
        let before = read(&message);
        for path in paths(&message) {
            let mut changed = message.clone();
            let Some(Value::Object(fields)) = changed.pointer_mut(&path) else {
                continue;
            };
            fields.insert("brand_new".to_owned(), json!({"type": "x", "deep": deep}));

            assert_eq!(read(&changed), before, "more is in {path} of {message}");
        }
    }
}
