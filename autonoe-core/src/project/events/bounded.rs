//! Lines that are not too long to travel.

use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::excerpt::excerpt_to;

/// How long a line may be.
pub(super) const LONGEST: usize = 128 * 1024;

/// How long a text may be, at first and if the line is too long all the same.
const TEXTS: [usize; 3] = [32 * 1024, 4 * 1024, 256];

/// Writes something as a line of JSON, with texts that are too long cut; `None` if that does not
/// make it short enough, or it is no JSON.
pub(super) fn bounded_line(what: &impl Serialize) -> Option<Vec<u8>> {
    let whole = serde_json::to_vec(what).ok()?;
    if whole.len() <= TEXTS[0] {
        return Some(ended(whole));
    }
    let value: Value = serde_json::from_slice(&whole).ok()?;
    TEXTS.iter().find_map(|most| {
        let line = serde_json::to_vec(&cut(value.clone(), *most)).ok()?;
        (line.len() < LONGEST).then(|| ended(line))
    })
}

fn ended(mut line: Vec<u8>) -> Vec<u8> {
    line.push(b'\n');
    line
}

fn cut(value: Value, most: usize) -> Value {
    match value {
        Value::String(text) => json!(excerpt_to(text, most)),
        Value::Array(values) => values.into_iter().map(|value| cut(value, most)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, cut(value, most)))
            .collect(),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_written_as_it_is() {
        let line = bounded_line(&json!({"text": "Grüße"})).expect("short");

        assert_eq!(line, "{\"text\":\"Grüße\"}\n".as_bytes());
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let text = format!("a{}", "ü".repeat(40_000));

        let line = bounded_line(&json!({"text": text, "number": 7})).expect("it can be cut");

        let read: Value = serde_json::from_slice(&line).expect("JSON");
        let kept = read["text"].as_str().expect("a text");
        assert!(kept.len() <= TEXTS[0], "{}", kept.len());
        assert!(kept.starts_with("aü") && kept.ends_with("üü"));
        assert!(kept.contains("bytes were left out"));
        assert_eq!(read["number"], 7);
    }

    #[test]
    fn many_texts_are_cut_shorter_until_the_line_is_short_enough() {
        let texts = vec!["x".repeat(30_000); 100];

        let line = bounded_line(&texts).expect("it can be cut");

        assert!(line.len() <= LONGEST, "{}", line.len());
        let read: Vec<String> = serde_json::from_slice(&line).expect("JSON");
        assert_eq!(read.len(), 100);
    }

    #[test]
    fn what_stays_too_long_is_not_written() {
        assert_eq!(bounded_line(&vec![0_u64; LONGEST]), None);
    }
}
