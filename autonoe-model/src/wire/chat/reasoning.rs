//! [`StreamedThinking`]: reasoning of a model, in the various fields of services.

use serde_json::{Map, Value};

use super::PROTOCOL;
use crate::contract::MessagePart;

/// Fields with plain text, better known first.
const TEXTS: [&str; 2] = ["reasoning", "reasoning_content"];
const DETAILS: &str = "reasoning_details";

/// Reasoning of a model. Services send it in one field, or the same text in several.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamedThinking {
    fields: Map<String, Value>,
}

impl StreamedThinking {
    /// Returns whether a field contains reasoning.
    pub(super) fn is_field(field: &str) -> bool {
        TEXTS.contains(&field) || field == DETAILS
    }

    /// Processes the next piece of an answer, and returns its reasoning text.
    pub(super) fn push(&mut self, delta: &Value) -> String {
        for field in TEXTS {
            if let Some(more) = delta[field].as_str().filter(|more| !more.is_empty()) {
                append(&mut self.fields, field, more);
            }
        }
        let details = delta[DETAILS].as_array().into_iter().flatten();
        for detail in details {
            let list = self
                .fields
                .entry(DETAILS)
                .or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                add_detail(list, detail);
            }
        }
        thinking_text(&|field| &delta[field])
    }

    /// Converts the reasoning into a part.
    pub(super) fn into_part(self) -> Option<MessagePart> {
        if self.fields.is_empty() {
            return None;
        }
        let fields = Value::Object(self.fields);
        let text = thinking_text(&|field| &fields[field]);
        Some(MessagePart::thinking(text).with_wire(PROTOCOL, fields))
    }
}

/// Returns the text of the first field that has one.
fn thinking_text<'a>(field: &dyn Fn(&str) -> &'a Value) -> String {
    let texts = TEXTS.iter().filter_map(|name| field(name).as_str());
    if let Some(text) = { texts }.find(|text| !text.is_empty()) {
        return text.into();
    }
    let details = field(DETAILS).as_array().into_iter().flatten();
    details
        .filter_map(|detail| detail["text"].as_str().or(detail["summary"].as_str()))
        .collect()
}

/// Adds a piece of a detail: to the last one if it continues that, or else as a new one.
fn add_detail(list: &mut Vec<Value>, detail: &Value) {
    let grows = match detail["type"].as_str() {
        Some("reasoning.text") => Some("text"),
        Some("reasoning.summary") => Some("summary"),
        _ => None,
    };
    if let (Some(grows), Some(last), Some(more)) = (grows, list.last_mut(), detail.as_object())
        && last["type"] == detail["type"]
        && last["index"] == detail["index"]
        && let Value::Object(last) = last
    {
        for (field, value) in more {
            match value {
                Value::Null => {}
                Value::String(more) if field == grows => append(last, field, more),
                value => {
                    last.insert(field.clone(), value.clone());
                }
            }
        }
        return;
    }
    list.push(detail.clone());
}

/// Appends text to a field.
pub(super) fn append(fields: &mut Map<String, Value>, field: &str, more: &str) {
    match fields.get_mut(field) {
        Some(Value::String(text)) => *text += more,
        _ => {
            fields.insert(field.into(), more.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::PartKind;

    fn reasoning_of(deltas: &[Value]) -> (String, MessagePart) {
        let mut reasoning = StreamedThinking::default();
        let streamed = deltas.iter().map(|delta| reasoning.push(delta)).collect();
        (streamed, reasoning.into_part().expect("thoughts"))
    }

    #[test]
    fn the_same_reasoning_in_two_fields_counts_once() {
        let (streamed, part) = reasoning_of(&[
            json!({"reasoning": "Hm", "reasoning_content": "Hm"}),
            json!({"reasoning": ".", "reasoning_content": "."}),
        ]);

        assert_eq!(streamed, "Hm.");
        let item = json!({"reasoning": "Hm.", "reasoning_content": "Hm."});
        assert_eq!(part, MessagePart::thinking("Hm.").with_wire(PROTOCOL, item));
    }

    #[test]
    fn details_grow_together_with_their_signature() {
        let piece = |text: &str| json!({"type": "reasoning.text", "text": text, "index": 0});
        let (streamed, part) = reasoning_of(&[
            json!({"reasoning_details": [piece("One")]}),
            json!({"reasoning_details": [piece(" two")]}),
            json!({"reasoning_details": [
                {"type": "reasoning.text", "signature": "c2ln", "text": null, "index": 0},
                {"type": "reasoning.text", "text": " three", "index": 1},
                {"type": "reasoning.encrypted", "data": "YQ==", "index": 1},
                {"type": "reasoning.encrypted", "data": "Yg==", "index": 1},
            ]}),
        ]);

        assert_eq!(streamed, "One two three");
        assert_eq!(
            part.kind,
            PartKind::Thinking {
                text: "One two three".into()
            }
        );
        assert_eq!(
            part.wire_item(PROTOCOL),
            Some(&json!({"reasoning_details": [
                {"type": "reasoning.text", "text": "One two", "signature": "c2ln", "index": 0},
                {"type": "reasoning.text", "text": " three", "index": 1},
                {"type": "reasoning.encrypted", "data": "YQ==", "index": 1},
                {"type": "reasoning.encrypted", "data": "Yg==", "index": 1},
            ]}))
        );
    }
}
