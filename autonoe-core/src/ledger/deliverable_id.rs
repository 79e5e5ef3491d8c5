//! [`DeliverableId`], the name of a deliverable.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::is_invisible;

/// Id of a deliverable, for example `DL-001`.
///
/// An id is never empty and has no surrounding blanks, control characters or invisible characters.
///
/// ```
/// use autonoe_core::ledger::DeliverableId;
///
/// let id = DeliverableId::new("DL-001")?;
/// assert_eq!(id.as_str(), "DL-001");
/// assert!(DeliverableId::new("  ").is_err());
/// # Ok::<(), autonoe_core::ledger::InvalidDeliverableId>(())
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct DeliverableId(String);

impl DeliverableId {
    /// Validates `text` as an id.
    ///
    /// # Errors
    ///
    /// The text is empty or has surrounding blanks, control characters or invisible characters.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidDeliverableId> {
        let text = text.into();
        let is_hidden = |character: char| character.is_control() || is_invisible(character);
        let valid = !text.is_empty() && text.trim() == text && !text.contains(is_hidden);
        if valid {
            Ok(Self(text))
        } else {
            Err(InvalidDeliverableId { text })
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeliverableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for DeliverableId {
    type Error = InvalidDeliverableId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl TryFrom<&str> for DeliverableId {
    type Error = InvalidDeliverableId;

    fn try_from(text: &str) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<DeliverableId> for String {
    fn from(id: DeliverableId) -> Self {
        id.0
    }
}

/// Error: the text is not a valid deliverable id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is not a deliverable id: it must not be empty, have surrounding whitespace, or contain \
     control characters or other invisible characters",
    escape(text)
)]
pub struct InvalidDeliverableId {
    text: String,
}

/// Escapes all invisible characters of a text. Rust's own escapes leave some of them unchanged.
fn escape(text: &str) -> String {
    let escape_char = |character: char| {
        if is_invisible(character) {
            character.escape_unicode().to_string()
        } else {
            character.to_string()
        }
    };
    format!("{text:?}").chars().map(escape_char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_hidden_characters_or_blanks_are_rejected() {
        for (text, case) in [
            ("", "empty"),
            (" ", "blank"),
            (" DL-001", "a blank before it"),
            ("DL-001 ", "a blank behind it"),
            ("DL-001\u{3000}", "a wide blank behind it"),
            ("DL\n001", "a line break"),
            ("DL\u{7}", "a bell"),
            ("DL\u{1b}[2J", "an escape"),
            ("DL\u{9b}2J", "the escape of eight bits"),
            ("DL\u{ad}001", "a soft hyphen"),
            ("DL\u{61c}001", "an Arabic mark of direction"),
            ("DL\u{200b}001", "a space without width"),
            ("DL\u{200d}001", "a joiner"),
            ("DL\u{200e}001", "a mark of direction: left to right"),
            ("DL\u{200f}001", "a mark of direction: right to left"),
            ("DL\u{2028}001", "a separator of lines"),
            ("DL\u{202a}001", "an embedding: left to right"),
            ("DL\u{202b}001", "an embedding: right to left"),
            ("DL\u{202c}001", "the end of an embedding"),
            ("DL\u{202d}001", "an override: left to right"),
            ("DL\u{202e}001", "an override: right to left"),
            ("DL\u{2060}001", "a joiner of words"),
            ("DL\u{2066}001", "an isolate: left to right"),
            ("DL\u{2067}001", "an isolate: right to left"),
            ("DL\u{2068}001", "an isolate: by the first letter"),
            ("DL\u{2069}001", "the end of an isolate"),
            ("DL\u{3164}001", "a blank letter"),
            ("DL\u{feff}001", "a mark of byte order"),
            ("DL\u{e0041}001", "a tag"),
        ] {
            let result = DeliverableId::new(text);

            assert!(result.is_err(), "{case}: {text:?} was accepted");
        }
    }

    #[test]
    fn texts_of_any_script_are_ids() {
        for text in [
            "DL-001",
            "User Auth",
            "漢字-3",
            "تسجيل-1",
            "שלום",
            "żółć",
            "✔️ done",
        ] {
            assert!(DeliverableId::new(text).is_ok(), "{text:?} was refused");
        }
    }

    #[test]
    fn an_invalid_id_in_json_is_refused_with_the_text() {
        let error = serde_json::from_str::<DeliverableId>("\" x\"").expect_err("it is invalid");

        assert!(
            error.to_string().contains("\" x\" is not a deliverable id"),
            "{error}"
        );
    }

    #[test]
    fn invisible_characters_are_escaped_in_the_error() {
        for (text, escaped) in [
            ("DL\u{202e}1", r#""DL\u{202e}1""#),
            ("DL\u{3164}1", r#""DL\u{3164}1""#),
            ("DL\u{1b}1", r#""DL\u{1b}1""#),
        ] {
            let error = DeliverableId::new(text).expect_err("it is invalid");

            assert!(error.to_string().starts_with(escaped), "{error}");
        }
    }
}
