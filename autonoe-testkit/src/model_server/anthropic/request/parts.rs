//! The parts of a request.

use serde_json::Value;

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OfferedTool {
    /// Its name for the model, such as `mcp__autonoe__list`.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// The JSON Schema of its input; null for tools of the vendor that have none.
    pub input_schema: Value,
    /// The whole of it.
    pub raw: Value,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// `user`, `assistant` or `system`.
    pub role: String,
    /// Its parts; a plain string is one text.
    pub content: Vec<PromptBlock>,
}

/// A part of a message of the conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PromptBlock {
    /// Text.
    Text(String),
    /// What the model thought before.
    Thinking(String),
    /// A tool that the model called before.
    ToolUse {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// What it was called with.
        input: Value,
    },
    /// What came of such a call.
    ToolResult(ToolResult),
    /// Anything else, as it came.
    Other(Value),
}

/// What came of a tool that the model called.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the call.
    pub tool_use_id: String,
    /// What the model gets to read: all texts, one after the other.
    pub text: String,
    /// Whether the tool failed or was refused.
    pub is_error: bool,
    /// The content as it came: a string, or blocks.
    pub content: Value,
}

/// Whether and how long the model is to think.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Thinking {
    /// As long as it finds right.
    Adaptive,
    /// For so many tokens at most.
    Enabled {
        /// How many.
        budget_tokens: u64,
    },
    /// Not at all.
    Disabled,
    /// Something else, as it came.
    Other(Value),
}
