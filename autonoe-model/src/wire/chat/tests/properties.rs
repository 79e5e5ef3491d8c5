//! Property tests of arbitrary and reordered events.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::wire::openai::read_arguments;
use crate::wire::openai::testing::{any_json, cut, streamed};

fn any_fragment() -> impl Strategy<Value = Value> {
    let id = prop::option::of("[ab]");
    let fields = (prop::option::of(0u64..3), id, any_json(), any_json());
    let known = fields.prop_map(|(index, id, name, arguments)| {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    });
    prop_oneof![4 => known, 1 => any_json()]
}

fn any_delta() -> impl Strategy<Value = Value> {
    let fields = prop::sample::select(vec![
        "content",
        "refusal",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "new",
    ]);
    let text = (fields, prop_oneof![Just(json!("x")), any_json()]);
    prop_oneof![
        text.prop_map(|(field, value)| json!({field: value})),
        prop::collection::vec(any_fragment(), 0..3).prop_map(|list| json!({"tool_calls": list})),
        any_json(),
    ]
}

fn any_event() -> impl Strategy<Value = ServerEvent> {
    let known = any_delta().prop_map(|delta| event(&chunk(&delta)));
    let reason = prop::sample::select(vec!["stop", "length", "tool_calls", "error", "", "new"]);
    let garbage = ("[a-z.]{0,12}", ".{0,24}").prop_map(|(name, data)| ServerEvent { name, data });
    prop_oneof![
        8 => known,
        1 => reason.prop_map(|reason| event(&stopped(reason))),
        1 => any_json().prop_map(|json| event(&json!({"usage": json, "choices": json}))),
        1 => any_json().prop_map(|json| event(&json)),
        1 => garbage,
        1 => Just(end()),
    ]
}

proptest! {
    #[test]
    fn arbitrary_events_never_panic(events in prop::collection::vec(any_event(), 0..20)) {
        let mut decoder = wire(Dialect::Plain).decoder();
        let mut new_events = Vec::new();
        for event in &events {
            // Including events after an error or an end.
            let _ = decoder.push(event, &mut new_events);
        }
        let reply = decoder.finish();

        // Any decoded answer can be encoded again.
        if let Ok(reply) = reply {
            wire(Dialect::Vllm).encode("m-1", &ModelRequest::new([reply.message.into()]));
        }
    }

    #[test]
    fn wherever_it_is_cut_the_answer_is_the_same(
        text in ".{0,20}",
        arguments in prop::array::uniform2(".{0,20}"),
        at in prop::collection::vec(0usize..20, 0..8),
        order in prop::collection::vec(0usize..3, 0..60),
    ) {
        let text_chunk = |piece: &String| chunk(&json!({"content": piece}));
        let mut lanes: Vec<std::collections::VecDeque<Value>> = vec![
            cut(&text, &at).iter().map(text_chunk).collect(),
        ];
        for (index, arguments) in (0..).zip(&arguments) {
            let id = format!("call_{index}");
            let first = calls(&[fragment(index, &id, "Read", "")]);
            let pieces = cut(arguments, &at);
            let rest = pieces.iter().map(|piece| calls(&[fragment(index, "", "", piece)]));
            lanes.push(std::iter::once(first).chain(rest).collect());
        }
        let mut chunks: Vec<Value> = Vec::new();
        for lane in order {
            chunks.extend(lanes[lane].pop_front());
        }
        chunks.extend(lanes.into_iter().flatten());
        chunks.push(stopped("tool_calls"));

        let (new_events, reply) = answer(&chunks);

        let reply = reply.expect("whole");
        prop_assert_eq!(&reply.message.to_text(), &text);
        prop_assert_eq!(streamed(&new_events).0, text);
        let inputs = arguments.map(|arguments| read_arguments(&arguments));
        let called: Vec<_> = reply.message.calls().collect();
        let expected =
            [("call_0", "Read", &inputs[0]), ("call_1", "Read", &inputs[1])];
        prop_assert_eq!(called, expected);
    }
}
