//! Mutations of a file, each with one invalid value.

use serde_json::{Value, json};

/// A file with one changed value.
pub(crate) struct Mutation {
    pub(crate) what: String,
    pub(crate) value: Value,
}

/// Returns `file` with each of its values removed, of another type, or beside an unknown field.
pub(crate) fn mutations(file: &Value) -> Vec<Mutation> {
    let mut pointers = Vec::new();
    collect(file, String::new(), &mut pointers);
    let mut found = Vec::new();
    for pointer in pointers {
        let value = file.pointer(&pointer).expect("it is there");
        let at = if pointer.is_empty() { "/" } else { &pointer };
        if let Some((parent, name)) = pointer.rsplit_once('/') {
            let mut changed = file.clone();
            if let Some(Value::Object(fields)) = changed.pointer_mut(parent) {
                fields.remove(name);
                found.push(mutation(format!("{at} is left out"), changed));
            }
        }
        for (what, other) in others(value) {
            let mut changed = file.clone();
            *changed.pointer_mut(&pointer).expect("it is there") = other;
            found.push(mutation(format!("{at} is {what}"), changed));
        }
        if value.is_object() {
            let mut changed = file.clone();
            changed.pointer_mut(&pointer).expect("it is there")["surprise"] = json!(1);
            found.push(mutation(format!("{at} has the field surprise"), changed));
        }
    }
    found
}

fn mutation(what: String, value: Value) -> Mutation {
    Mutation { what, value }
}

/// Returns values of other types, and for a string also an unknown one.
fn others(value: &Value) -> Vec<(&'static str, Value)> {
    let mut found = vec![("null", Value::Null)];
    if !value.is_number() {
        found.push(("7", json!(7)));
    }
    if !value.is_string() {
        found.push(("a text", json!("text")));
    }
    if value.is_number() {
        found.push(("-1", json!(-1)));
    }
    if !value.is_array() {
        found.push(("a list", json!([])));
    }
    if !value.is_object() {
        found.push(("an object", json!({})));
    }
    if !value.is_boolean() {
        found.push(("false", json!(false)));
    } else {
        found.push(("the other truth", json!(!value.as_bool().expect("a truth"))));
    }
    if value.is_string() {
        found.push(("an odd text", json!(" ?! ")));
    }
    found
}

fn collect(value: &Value, pointer: String, found: &mut Vec<String>) {
    found.push(pointer.clone());
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| collect(value, format!("{pointer}/{name}"), found)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| collect(value, format!("{pointer}/{index}"), found)),
        _ => {}
    }
}
