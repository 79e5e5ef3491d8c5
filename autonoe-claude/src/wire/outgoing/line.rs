//! One whole line to send.

use std::fmt;

use bytes::Bytes;
use serde_json::{Value, json};

/// One whole line to send, its end included.
///
/// A line that is torn or no JSON ends the program, so there is no way to make
/// one: each function here makes one whole object on one line.
///
/// ```
/// use autonoe_claude::wire::OutgoingLine;
///
/// let line = OutgoingLine::prompt("go\non");
///
/// assert!(line.as_bytes().ends_with(b"}\n"));
/// assert_eq!(line.as_bytes().iter().filter(|byte| **byte == b'\n').count(), 1);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct OutgoingLine(Bytes);

impl OutgoingLine {
    /// Takes the text of one JSON object.
    pub(super) fn from_json(mut text: String) -> Self {
        debug_assert!(!text.contains('\n'), "{text}");
        text.push('\n');
        Self(Bytes::from(text))
    }

    pub(super) fn from_value(value: &Value) -> Self {
        Self::from_json(value.to_string())
    }

    /// Tells the agent `text`: a new turn, or a word in between if one is under way.
    pub fn prompt(text: &str) -> Self {
        Self::from_value(&json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": null,
            "session_id": "",
        }))
    }

    /// Returns the bytes to write, all at once.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes to write.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl AsRef<[u8]> for OutgoingLine {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for OutgoingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutgoingLine").field(&self.0).finish()
    }
}
