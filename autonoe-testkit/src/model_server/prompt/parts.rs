//! The parts of a prompt.

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

/// A message of the conversation. In the Responses API, each item is one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// `user`, `assistant` or `system`, or as the vendor says: `developer`, `tool`, `model`.
    pub role: String,
    /// Its parts; a plain string is one text.
    pub content: Vec<PromptBlock>,
    /// The whole of it.
    pub raw: Value,
}

/// A part of a message of the conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PromptBlock {
    /// Text.
    Text(String),
    /// Text of the model that has a signature. Only Gemini signs what is said.
    SignedText {
        /// What was said.
        text: String,
        /// What the vendor signed it with.
        signature: String,
    },
    /// What the model thought before.
    Thinking {
        /// What can be read of it.
        text: String,
        /// What the vendor signed or encrypted it with, if that came back.
        signature: Option<String>,
    },
    /// A tool that the model called before.
    ToolUse {
        /// The id of the call; empty where the vendor has none.
        id: String,
        /// The name of the tool.
        name: String,
        /// What it was called with; a text, if that is no JSON.
        input: Value,
        /// What the vendor signed the call with. Only Gemini signs calls.
        signature: Option<String>,
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
    /// The id of the call; empty where the vendor has none.
    pub tool_use_id: String,
    /// The name of the tool, where the vendor wants it back.
    pub name: Option<String>,
    /// What the model gets to read: all texts, one after the other.
    pub text: String,
    /// Whether the tool failed or was refused, as far as the vendor can be told: OpenAI cannot.
    pub is_error: bool,
    /// The content as it came: a string, blocks, or an object.
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
