//! A part of a message that is kept as the text it came in.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::repair::repair;

/// A part of a message that is kept as the text it came in, and read when it is needed.
#[derive(Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct Json<'a>(#[serde(borrow)] &'a RawValue);

impl<'a> Json<'a> {
    /// Returns the text.
    pub fn as_str(self) -> &'a str {
        self.0.get()
    }

    /// Returns the value; `None` if it is nested too deeply to be read.
    ///
    /// What is no Unicode in it is replaced.
    pub fn value(self) -> Option<Value> {
        let text = self.as_str();
        serde_json::from_str(text)
            .or_else(|error| match repair(text.as_bytes()) {
                Some(repaired) => serde_json::from_str(&repaired),
                None => Err(error),
            })
            .ok()
    }

    /// Reads the part as a `T`.
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
