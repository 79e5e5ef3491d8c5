//! The parts of a prompt.

use serde_json::Value;

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OfferedTool {
    /// Its name for the model, such as `mcp__autonoe__list`.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The JSON Schema of its input; null for tools of the vendor that have none.
    pub input_schema: Value,
    /// The complete JSON.
    pub raw: Value,
}

/// A message of the conversation. In the Responses API, each item is one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// `user`, `assistant` or `system`, or the vendor's own term: `developer`, `tool`, `model`.
    pub role: String,
    /// The parts; a plain string is one text.
    pub content: Vec<PromptBlock>,
    /// The complete JSON.
    pub raw: Value,
}

/// A part of a message of the conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PromptBlock {
    /// Text.
    Text(String),
    /// Text of the model with a signature. Only Gemini signs texts.
    SignedText {
        /// The text.
        text: String,
        /// The vendor's signature.
        signature: String,
    },
    /// Earlier reasoning of the model.
    Thinking {
        /// The readable part.
        text: String,
        /// The vendor's signature or encrypted content, if the client sent it back.
        signature: Option<String>,
    },
    /// An earlier tool call of the model.
    ToolUse {
        /// The id of the call; empty if the vendor has none.
        id: String,
        /// The name of the tool.
        name: String,
        /// The input; a string if it is not JSON.
        input: Value,
        /// The vendor's signature of the call. Only Gemini signs calls.
        signature: Option<String>,
    },
    /// The result of such a call.
    ToolResult(PromptToolResult),
    /// Anything else, unchanged.
    Other(Value),
}

/// The result of a tool call of the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptToolResult {
    /// The id of the call; empty if the vendor has none.
    pub tool_use_id: String,
    /// The name of the tool, if the vendor requires it.
    pub name: Option<String>,
    /// The text for the model: all texts, concatenated.
    pub text: String,
    /// Whether the tool failed or was refused. OpenAI's APIs cannot express this.
    pub is_error: bool,
    /// The unchanged content: a string, blocks, or an object.
    pub content: Value,
}

/// The reasoning settings of a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Thinking {
    /// The model chooses how much to reason.
    Adaptive,
    /// Up to this many tokens.
    Enabled {
        /// The number of tokens.
        budget_tokens: u64,
    },
    /// No reasoning.
    Disabled,
    /// Another setting, unchanged.
    Other(Value),
}
