//! Repairs text with invalid Unicode, which a strict parser refuses.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Returns `raw` with invalid Unicode replaced, or `None` if it is valid.
///
/// The program cuts texts by UTF-16 units, and a model can write any escape into the input of a
/// tool. A line may therefore contain half of a surrogate pair as an escape (`\ud83d`), which is
/// valid JSON for the program but not for us. Each half becomes U+FFFD, which is also what a
/// process receives as its input.
pub(super) fn repair(raw: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(raw);
    let mut repaired = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(place) = rest.find('\\') {
        let (before, from) = rest.split_at(place);
        repaired.push_str(before);
        let consumed = match surrogate(from) {
            Some(Half::Low) => {
                repaired.push_str("\\ufffd");
                ESCAPE
            }
            Some(Half::High) => match from.get(ESCAPE..).and_then(surrogate) {
                Some(Half::Low) => {
                    repaired.push_str(&from[..2 * ESCAPE]);
                    2 * ESCAPE
                }
                _ => {
                    repaired.push_str("\\ufffd");
                    ESCAPE
                }
            },
            None => {
                // Copy the backslash with the next character, so that the second of two backslashes
                // does not start an escape.
                let next = from.chars().nth(1).map_or(0, char::len_utf8);
                repaired.push_str(&from[..1 + next]);
                1 + next
            }
        };
        rest = &from[consumed..];
    }
    repaired.push_str(rest);
    (repaired.as_bytes() != raw).then_some(repaired)
}

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Returns the half of a surrogate pair that `text` starts with, if it starts with such an escape.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

/// A part of a message that is kept as text, and parsed when it is needed.
#[derive(Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct Json<'a>(#[serde(borrow)] &'a RawValue);

impl<'a> Json<'a> {
    /// Returns the text.
    pub fn as_str(self) -> &'a str {
        self.0.get()
    }

    /// Returns the value; `None` if it is nested too deeply to be parsed.
    ///
    /// Invalid Unicode is replaced.
    pub fn value(self) -> Option<Value> {
        let text = self.as_str();
        serde_json::from_str(text)
            .or_else(|error| match repair(text.as_bytes()) {
                Some(repaired) => serde_json::from_str(&repaired),
                None => Err(error),
            })
            .ok()
    }

    /// Parses the part as a `T`.
    pub(super) fn view<T: Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }
}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Json<'_> {
    /// Compares the texts.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_the_rest_stays() {
        for (raw, expected) in [
            (r#""a\ud83d""#, Some(r#""a\ufffd""#)),
            (r#""\uDC00b""#, Some(r#""\ufffdb""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\n""#, Some(r#""\ufffd\n""#)),
            (r#""\ud83dé""#, Some(r#""\ufffdé""#)),
            (r#""\\ud83d""#, None),
            (r#""\ud83d\ude00 \u00e9 \" \\""#, None),
            (r#""\ud8""#, None),
            ("\"\\", None),
            ("", None),
        ] {
            assert_eq!(repair(raw.as_bytes()).as_deref(), expected, "{raw}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(repair(b"\"a\xff\"").as_deref(), Some("\"a\u{fffd}\""));
    }

    #[test]
    fn a_part_is_read_also_with_half_of_a_pair_in_it() {
        let part: Json<'_> = serde_json::from_str(r#"{"command":"echo \ud83d"}"#).expect("JSON");

        assert_eq!(
            part.value(),
            Some(serde_json::json!({"command": "echo \u{fffd}"}))
        );
    }

    #[test]
    fn a_part_that_is_nested_too_deeply_has_a_text_and_no_value() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));

        let part: Json<'_> = serde_json::from_str(&deep).expect("JSON");

        assert_eq!((part.as_str(), part.value()), (deep.as_str(), None));
    }
}
