//! The name of a deliverable.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names one deliverable, for example `DL-001`.
///
/// An id is never empty, has no surrounding blanks and no control characters.
///
/// ```
/// use autonoe_core::DeliverableId;
///
/// let id = DeliverableId::new("DL-001")?;
/// assert_eq!(id.as_str(), "DL-001");
/// assert!(DeliverableId::new("  ").is_err());
/// # Ok::<(), autonoe_core::InvalidDeliverableId>(())
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct DeliverableId(String);

impl DeliverableId {
    /// Makes an id of `text`.
    ///
    /// # Errors
    ///
    /// The text is empty, has surrounding blanks, or has control characters.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidDeliverableId> {
        let text = text.into();
        let valid = !text.is_empty() && text.trim() == text && !text.contains(char::is_control);
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

/// A text that cannot name a deliverable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a deliverable id: it must not be empty, have surrounding blanks or control characters"
)]
pub struct InvalidDeliverableId {
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_cannot_be_told_apart_by_eye_are_refused() {
        for text in ["", " ", " DL-001", "DL-001 ", "DL\n001", "DL\u{7}"] {
            let refused = DeliverableId::new(text);

            assert!(refused.is_err(), "{text:?} was accepted");
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
}
