//! Property tests of arbitrary and reordered events.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::wire::openai::testing::{any_json, cut, streamed};

const KINDS: [&str; 14] = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "error",
    "response.brand_new",
];

fn any_item() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["message", "reasoning", "function_call", "new"]);
    let known = (kind, any_json(), any_json()).prop_map(|(kind, a, b)| {
        json!({
            "type": kind, "call_id": "c", "name": a, "arguments": b, "content": [a], "summary": b,
        })
    });
    prop_oneof![known, any_json()]
}

fn any_event() -> impl Strategy<Value = ServerEvent> {
    let kind = prop::sample::select(KINDS.to_vec());
    let known = (kind, 0u64..3, any_item(), any_json(), any::<bool>()).prop_map(
        |(kind, index, item, other, sound)| {
            let delta = if sound { json!("x") } else { other.clone() };
            event(&json!({
                "type": kind, "output_index": index, "item": item, "delta": delta,
                "response": {"id": other, "output": [item], "usage": other, "error": other},
            }))
        },
    );
    let garbage = ("[a-z.]{0,12}", ".{0,24}").prop_map(|(name, data)| ServerEvent { name, data });
    prop_oneof![8 => known, 1 => any_json().prop_map(|json| event(&json)), 1 => garbage]
}

proptest! {
    #[test]
    fn arbitrary_events_never_panic(events in prop::collection::vec(any_event(), 0..20)) {
        let mut decoder = wire().decoder();
        let mut new_events = Vec::new();
        for event in &events {
            // Including events after an error or an end.
            let _ = decoder.push(event, &mut new_events);
        }
        let whole = decoder.is_complete();

        prop_assert_eq!(decoder.finish().is_ok(), whole);
    }

    #[test]
    fn wherever_it_is_cut_the_answer_is_the_same(
        text in ".{0,20}",
        arguments in ".{0,20}",
        at in prop::collection::vec(0usize..20, 0..8),
        order in prop::collection::vec(any::<bool>(), 0..40),
    ) {
        let mut text_pieces = cut(&text, &at).into_iter();
        let mut calls = cut(&arguments, &at).into_iter();
        let mut events = vec![
            added(0, &json!({"type": "message"})),
            added(1, &call("call_1", "Read", "")),
        ];
        let text_delta = |piece: String| delta("response.output_text.delta", 0, &piece);
        let args = |piece: String| delta("response.function_call_arguments.delta", 1, &piece);
        for first in order {
            events.extend(if first {
                text_pieces.next().map(text_delta)
            } else {
                calls.next().map(args)
            });
        }
        events.extend(text_pieces.map(text_delta));
        events.extend(calls.map(args));
        events.push(completed());

        let (new_events, reply) = answer(&events);

        let reply = reply.expect("whole");
        prop_assert_eq!(&reply.message.to_text(), &text);
        prop_assert_eq!(streamed(&new_events).0, text);
        let input = crate::wire::openai::read_arguments(&arguments);
        prop_assert_eq!(reply.message.calls().next(), Some(("call_1", "Read", &input)));
    }
}
