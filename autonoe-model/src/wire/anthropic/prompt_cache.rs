//! Marks up to where a prompt is worth to be kept by the provider.

use serde_json::{Map, Value, json};

/// How many of the last messages to the model are marked. The last one is what the next request
/// finds again; the one before it is what this request finds, however much came in between.
const MARKED_MESSAGES: usize = 2;

/// Marks the end of what stays the same in the next request of a conversation: tools and
/// system prompt, and the last messages to the model. A long loop then pays for each part once.
/// What the model said itself is never touched: it goes back as it came.
pub(super) fn mark(body: &mut Map<String, Value>) {
    // Tools stand before the system prompt: its mark is theirs too.
    for part in ["system", "tools"] {
        if mark_last(body.get_mut(part)) {
            break;
        }
    }
    let Some(Value::Array(messages)) = body.get_mut("messages") else {
        return;
    };
    let to_model = messages.iter_mut().rev();
    for message in to_model
        .filter(|message| message["role"] == "user")
        .take(MARKED_MESSAGES)
    {
        mark_last(message.get_mut("content"));
    }
}

/// Marks the last of a list, if there is one.
fn mark_last(blocks: Option<&mut Value>) -> bool {
    let last = blocks
        .and_then(Value::as_array_mut)
        .and_then(|blocks| blocks.last_mut());
    match last {
        Some(block) => {
            block["cache_control"] = json!({"type": "ephemeral"});
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(body: Value) -> Vec<String> {
        let Value::Object(mut body) = body else {
            panic!("no object")
        };
        mark(&mut body);
        let mut found = Vec::new();
        find("", &body.into(), &mut found);
        found
    }

    fn find(path: &str, value: &Value, found: &mut Vec<String>) {
        if value.get("cache_control").is_some() {
            found.push(path.to_owned());
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    find(&format!("{path}/{index}"), item, found);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    find(&format!("{path}/{name}"), field, found);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn the_system_prompt_and_the_last_two_messages_to_the_model_are_marked() {
        let said = |role: &str| json!({"role": role, "content": [{"a": 1}, {"b": 2}]});
        let body = json!({
            "system": [{"x": 1}],
            "tools": [{"y": 1}],
            "messages": [
                said("user"), said("assistant"), said("user"), said("assistant"), said("user"),
            ],
        });

        let expected = [
            "/system/0",
            "/messages/2/content/1",
            "/messages/4/content/1",
        ];
        assert_eq!(marked(body), expected);
    }

    #[test]
    fn without_a_system_prompt_the_last_tool_is_marked() {
        let body = json!({"tools": [{"y": 1}, {"z": 1}], "messages": []});

        assert_eq!(marked(body), ["/tools/1"]);
        assert_eq!(marked(json!({"messages": []})), [""; 0]);
    }
}
