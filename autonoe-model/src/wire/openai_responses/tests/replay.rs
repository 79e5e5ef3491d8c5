//! Tests of sending earlier answers back.

use serde_json::json;

use super::*;
use crate::contract::{AssistantMessage, Message};

/// Returns the items that are sent back for an answer with `items`, which was serialized and
/// deserialized in between.
fn sent_back(items: &[Value]) -> Value {
    let mut events: Vec<Value> = (0..).zip(items).map(|(n, item)| done(n, item)).collect();
    events.push(completed());
    let (_, reply) = answer(&events);
    let saved = serde_json::to_string(&Message::from(reply.expect("whole").message));
    let loaded = serde_json::from_str(&saved.expect("it can be written"));

    let request = ModelRequest::new([loaded.expect("it can be read")]);
    wire().encode("gpt-5", &request).body["input"].clone()
}

#[test]
fn an_answer_is_sent_back_unchanged() {
    let items = [
        reasoning(&["Hm."]),
        json!({"type": "web_search_call", "id": "ws_1", "action": {"query": "x"}}),
        message("I look."),
        reasoning(&[]),
        call("call_1", "Read", "{ \"path\" :\"a\"}"),
        call("call_2", "Read", "no json"),
    ];

    assert_eq!(sent_back(&items), json!(items));
}

#[test]
fn reasoning_that_the_service_cannot_read_is_left_out() {
    let mut bare = reasoning(&["Hm."]);
    bare["encrypted_content"] = json!(null);

    assert_eq!(
        sent_back(&[bare, message("Yes.")]),
        json!([message("Yes.")])
    );
}

#[test]
fn reasoning_without_an_answer_is_left_out() {
    let items = [message("Yes."), reasoning(&["Hm."]), reasoning(&["Hm."])];

    assert_eq!(sent_back(&items), json!([message("Yes.")]));
    assert_eq!(sent_back(&items[1..]), json!([]));
}

#[test]
fn an_empty_answer_is_not_sent() {
    let request = ModelRequest::new([AssistantMessage::default().into()]);

    assert_eq!(wire().encode("gpt-5", &request).body["input"], json!([]));
}
