//! Property tests: no message is an error.

use autonoe_codex::events::Translator;
use autonoe_codex::wire::{Item, Message, Notification, ProgramRequest};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::replay::{lines, names, spec};

/// Any JSON of limited depth.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A recorded message with one of its fields replaced.
fn any_variation() -> impl Strategy<Value = Value> {
    let got: Vec<Value> = names()
        .iter()
        .flat_map(|name| lines(name))
        .filter_map(|(is_got, line)| is_got.then_some(line))
        .collect();
    (
        prop::sample::select(got),
        any::<prop::sample::Index>(),
        any_json(),
    )
        .prop_map(|(mut line, place, other)| {
            let mut pointers = Vec::new();
            collect(&line, String::new(), &mut pointers);
            let pointer = &pointers[place.index(pointers.len())];
            if let Some(member) = line.pointer_mut(pointer) {
                *member = other;
            }
            line
        })
}

fn collect(value: &Value, here: String, pointers: &mut Vec<String>) {
    if let Value::Object(members) = value {
        for (name, member) in members {
            let name = name.replace('~', "~0").replace('/', "~1");
            collect(member, format!("{here}/{name}"), pointers);
        }
    }
    pointers.push(here);
}

fn observe(message: Message) -> usize {
    let mut translator = Translator::new(spec(), "thread", None);
    let mut events = Vec::new();
    if let Message::Notification(notification) = message {
        translator.observe(&notification, &mut events);
    }
    let (rest, _end) = translator.finish(None);
    events.len() + rest.len()
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(line in ".*") {
        if let Some(message) = Message::parse(&line) {
            observe(message);
        }
    }

    #[test]
    fn no_variation_of_a_message_makes_it_panic(line in any_variation()) {
        if let Some(message) = Message::parse(&line.to_string()) {
            observe(message);
        }
    }

    #[test]
    fn unknown_messages_are_preserved(method in "[a-z]{1,9}/[a-z]{1,9}", params in any_json()) {
        let line = json!({"method": method, "params": params}).to_string();

        let expected = Notification::Other { method: method.clone(), params: params.clone() };
        prop_assert_eq!(Message::parse(&line), Some(Message::Notification(expected)));

        let expected = ProgramRequest::Other { method: method.clone(), params: params.clone() };
        prop_assert_eq!(ProgramRequest::parse(&method, &params), expected);
    }

    #[test]
    fn unknown_items_are_preserved(mut item in any_json()) {
        if item.is_object() {
            item["type"] = json!("somethingNew");
        }

        prop_assert_eq!(Item::parse(&item), Item::Other(item));
    }
}
