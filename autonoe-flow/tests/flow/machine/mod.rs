//! The rules of a flow, one by one, as in the design.

mod context;
mod escalations;
mod limits;
mod steps;

use serde_json::{Value, json};

pub(super) const PROMPT: &str = "prompts/a.md";

/// A step with a check, which leads to `next`.
pub(super) fn checked(next: &str, fields: Value) -> Value {
    let mut step = json!({
        "prompt": PROMPT,
        "check": {"type": "keyword", "keywords": ["OK"], "onPass": {"next": next}},
    });
    for (name, value) in fields.as_object().expect("fields") {
        step[name] = value.clone();
    }
    step
}

pub(super) fn part(fields: Value) -> Value {
    let mut part = json!({"type": "subStep", "prompt": PROMPT});
    for (name, value) in fields.as_object().expect("fields") {
        part[name] = value.clone();
    }
    part
}
