//! Outcomes that can be read again.

use std::borrow::Cow;

use autonoe_core::{RunEnding, RunOutcome};
use serde_json::Value;

/// How long a text in an output may be. The outcome of one member becomes a part of the order of
/// another and of the outcome of all, so this is far less than a file may hold.
const LONGEST: usize = 1024 * 1024;

/// How much all of an output may be.
const LARGEST: usize = 16 * 1024 * 1024;

/// Returns the outcome as it can be kept: of texts that are too long the end stays, which says how it
/// came out, and an output that is too large all the same is replaced by a word about it.
pub(super) fn fitting(outcome: &RunOutcome) -> Cow<'_, RunOutcome> {
    let message = match &outcome.ending {
        RunEnding::Failed { failure } => failure.message.len(),
        RunEnding::Cancelled { reason } => reason.len(),
        RunEnding::Succeeded => 0,
    };
    if message <= LONGEST && fits(&outcome.output) && size(&outcome.output) <= LARGEST {
        return Cow::Borrowed(outcome);
    }
    let mut outcome = outcome.clone();
    match &mut outcome.ending {
        RunEnding::Failed { failure } => cut(&mut failure.message),
        RunEnding::Cancelled { reason } => cut(reason),
        RunEnding::Succeeded => {}
    }
    cut_all(&mut outcome.output);
    let size = size(&outcome.output);
    if size > LARGEST {
        outcome.output = Value::String(format!("[an output of {size} bytes was left out]"));
    }
    Cow::Owned(outcome)
}

fn fits(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= LONGEST,
        Value::Array(values) => values.iter().all(fits),
        Value::Object(values) => values.values().all(fits),
        _ => true,
    }
}

fn cut_all(value: &mut Value) {
    match value {
        Value::String(text) => cut(text),
        Value::Array(values) => values.iter_mut().for_each(cut_all),
        Value::Object(values) => values.values_mut().for_each(cut_all),
        _ => {}
    }
}

fn cut(text: &mut String) {
    if text.len() <= LONGEST {
        return;
    }
    let mut from = text.len() - LONGEST;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    *text = format!(
        "[{from} bytes before this were left out]\n{}",
        &text[from..]
    );
}

/// Returns about how many bytes a value is.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(values) => values.iter().map(|value| size(value) + 2).sum(),
        Value::Object(values) => {
            let each = values.iter();
            each.map(|(name, value)| name.len() + size(value) + 6).sum()
        }
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_a_long_text_the_end_is_kept_and_what_is_short_stays() {
        let short = RunOutcome::succeeded(json!({"output": "done"}));
        let long = format!("{}the end", "ä".repeat(LONGEST));
        let outcome = RunOutcome::succeeded(json!({"output": long, "id": "a"}));

        assert_eq!(*fitting(&short), short);
        let kept = fitting(&outcome).into_owned();
        let text = kept.output["output"].as_str().expect("a text");
        assert!(text.len() < LONGEST + 100 && text.ends_with("ääthe end"));
        assert!(text.starts_with('['));
        assert_eq!(kept.output["id"], "a");
    }

    #[test]
    fn what_is_too_large_in_all_is_left_out() {
        let many: Vec<String> = vec!["x".repeat(LONGEST); 20];

        let kept = fitting(&RunOutcome::succeeded(json!(many))).into_owned();

        assert!(kept.is_success());
        assert!(
            kept.output
                .as_str()
                .is_some_and(|text| text.contains("left out"))
        );
    }
}
