//! Test helpers that feed events to a decoder.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::contract::{ModelError, ModelEvent, ModelReply};
use crate::wire::{Decoder, ServerEvent};

/// Returns the event with `data`, named by its type if it has one.
pub(in crate::wire) fn event(data: &Value) -> ServerEvent {
    ServerEvent {
        name: data["type"].as_str().unwrap_or_default().into(),
        data: data.to_string(),
    }
}

/// Feeds `events` to the decoder like a client: to the first error, or to the end.
pub(in crate::wire) fn play(
    mut decoder: Box<dyn Decoder>,
    events: impl IntoIterator<Item = ServerEvent>,
) -> (Vec<ModelEvent>, Result<ModelReply, ModelError>) {
    let mut new_events = Vec::new();
    for event in events {
        if let Err(error) = decoder.push(&event, &mut new_events) {
            return (new_events, Err(error));
        }
        if decoder.is_complete() {
            break;
        }
    }
    (new_events, decoder.finish())
}

/// Returns the streamed text and reasoning.
pub(in crate::wire) fn streamed(new_events: &[ModelEvent]) -> (String, String) {
    let mut text = String::new();
    let mut thinking = String::new();
    for event in new_events {
        match event {
            ModelEvent::Text(more) => text += more,
            ModelEvent::Thinking(more) => thinking += more,
            _ => {}
        }
    }
    (text, thinking)
}

/// Splits `text` between characters, at the given positions.
pub(in crate::wire) fn cut(text: &str, places: &[usize]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for (n, letter) in text.chars().enumerate() {
        if places.contains(&n) {
            pieces.push(String::new());
        }
        if let Some(last) = pieces.last_mut() {
            last.push(letter);
        }
    }
    pieces
}

/// Generates any JSON of limited depth.
pub(in crate::wire) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0u64..4).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}
