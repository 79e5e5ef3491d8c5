//! The parts of a message.

use serde_json::Value;

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) content: Content,
    /// What the vendor signs it with, if the script says so.
    pub(super) signature: Option<String>,
}

/// What a part of a message is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Text(String),
    Thinking(String),
    ToolUse {
        /// Made from the number of the turn when there is none.
        id: Option<String>,
        name: String,
        input: ToolInput,
    },
    Raw(Value),
}

/// What a tool is called with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ToolInput {
    Json(Value),
    /// Text as it streams out, which need not be JSON.
    Text(String),
}

impl ToolInput {
    /// Returns it as the text of JSON, or what the script has in its place.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Json(input) => input.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}
