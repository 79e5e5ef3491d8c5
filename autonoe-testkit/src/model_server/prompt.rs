//! [`ReceivedPrompt`]: the complete input of a model, as types, and its parts.

use std::fmt;

use serde_json::Value;

/// A request for the next message of the model: its complete input.
///
/// It is the same for all vendors. Fields that vendors name differently have one name here, and
/// `raw` has the vendor's own format.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReceivedPrompt {
    /// The requested model.
    pub model: String,
    /// The maximum number of tokens in the answer.
    pub max_tokens: Option<u64>,
    /// Whether the answer is requested as a stream of events.
    pub stream: bool,
    /// The texts of the system prompt.
    pub system: Vec<String>,
    /// The tools that the model may call.
    pub tools: Vec<OfferedTool>,
    /// The conversation so far.
    pub messages: Vec<PromptMessage>,
    /// The reasoning settings, if they are specified.
    pub thinking: Option<Thinking>,
    /// The requested effort, such as `high`.
    pub effort: Option<String>,
    /// The complete body, for everything that has no field here.
    pub raw: Value,
}

impl ReceivedPrompt {
    /// Returns the instructions of the program: the system prompt, then the system and developer
    /// messages inside the conversation.
    pub fn system_texts(&self) -> Vec<&str> {
        let prompt = self.system.iter().map(String::as_str);
        let inside = self.texts_of(&["system", "developer"]);
        prompt.chain(inside).collect()
    }

    /// Returns the texts of the user, without results of tools.
    pub fn user_texts(&self) -> Vec<&str> {
        self.texts_of(&["user"]).collect()
    }

    /// Returns the results of tools, the oldest first.
    pub fn tool_results(&self) -> Vec<&PromptToolResult> {
        let results = self.blocks().filter_map(|block| match block {
            PromptBlock::ToolResult(result) => Some(result),
            _ => None,
        });
        results.collect()
    }

    /// Returns the signatures of the model's reasoning, oldest first: a vendor requires them back
    /// unchanged.
    pub fn signatures(&self) -> Vec<&str> {
        let signatures = self.blocks().filter_map(|block| match block {
            PromptBlock::Thinking { signature, .. } | PromptBlock::ToolUse { signature, .. } => {
                signature.as_deref()
            }
            PromptBlock::SignedText { signature, .. } => Some(signature.as_str()),
            _ => None,
        });
        signatures.collect()
    }

    /// Returns the tool of this name, if it is offered.
    pub fn tool(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    fn blocks(&self) -> impl Iterator<Item = &PromptBlock> {
        self.messages.iter().flat_map(|message| &message.content)
    }

    fn texts_of(&self, roles: &'static [&'static str]) -> impl Iterator<Item = &str> {
        let messages = self.messages.iter();
        let messages = messages.filter(move |message| roles.contains(&message.role.as_str()));
        let blocks = messages.flat_map(|message| &message.content);
        blocks.filter_map(|block| match block {
            PromptBlock::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

/// Formats a short summary of the request: `claude-x, 24 tools, 3 messages`.
impl fmt::Display for ReceivedPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, messages) = (self.tools.len(), self.messages.len());
        write!(f, "{}, {tools} tools, {messages} messages", self.model)
    }
}

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
