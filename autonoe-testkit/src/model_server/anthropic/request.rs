//! What a program asks the model, as types.

mod parts;
mod read;

use std::fmt;

use serde_json::Value;

pub use parts::{OfferedTool, PromptBlock, PromptMessage, Thinking, ToolResult};

/// What a program asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// The next message of the model.
    Messages(MessagesRequest),
    /// How many tokens such a request has.
    CountTokens(MessagesRequest),
    /// Something else; this is its body, as text.
    Other(String),
}

/// A request for the next message of the model: all that the model is told.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MessagesRequest {
    /// The model that is to answer.
    pub model: String,
    /// How many tokens the answer may have.
    pub max_tokens: Option<u64>,
    /// Whether the answer is to come as a stream of events.
    pub stream: bool,
    /// The texts of the system prompt.
    pub system: Vec<String>,
    /// The tools that the model may call.
    pub tools: Vec<OfferedTool>,
    /// The conversation so far.
    pub messages: Vec<PromptMessage>,
    /// Whether and how long the model is to think, if that is said.
    pub thinking: Option<Thinking>,
    /// How much effort is asked for, such as `high`.
    pub effort: Option<String>,
    /// The whole body, for what has no field here.
    pub raw: Value,
}

impl Request {
    /// Returns the request for a message, or `None` if it is another.
    pub fn messages(&self) -> Option<&MessagesRequest> {
        match self {
            Self::Messages(request) => Some(request),
            _ => None,
        }
    }
}

impl MessagesRequest {
    /// Reads the body of a request, or says what is wrong with it.
    ///
    /// Content that is not known is kept as it is.
    ///
    /// # Errors
    ///
    /// It is not JSON, names no model, or has no conversation.
    pub fn from_json(body: &[u8]) -> Result<Self, String> {
        read::request(body)
    }

    /// Returns what the program tells the model: the system prompt, then the system
    /// messages inside the conversation.
    pub fn system_texts(&self) -> Vec<&str> {
        let prompt = self.system.iter().map(String::as_str);
        prompt.chain(self.texts_of("system")).collect()
    }

    /// Returns the texts of the user, without results of tools.
    pub fn user_texts(&self) -> Vec<&str> {
        self.texts_of("user").collect()
    }

    /// Returns the results of tools, the oldest first.
    pub fn tool_results(&self) -> Vec<&ToolResult> {
        let blocks = self.messages.iter().flat_map(|message| &message.content);
        let results = blocks.filter_map(|block| match block {
            PromptBlock::ToolResult(result) => Some(result),
            _ => None,
        });
        results.collect()
    }

    /// Returns the tool of this name, if it is offered.
    pub fn tool(&self, name: &str) -> Option<&OfferedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    fn texts_of(&self, role: &str) -> impl Iterator<Item = &str> {
        let messages = self.messages.iter().filter(move |said| said.role == role);
        let blocks = messages.flat_map(|message| &message.content);
        blocks.filter_map(|block| match block {
            PromptBlock::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Messages(request) => request.fmt(f),
            Self::CountTokens(request) => write!(f, "count the tokens of {request}"),
            Self::Other(body) => write!(f, "{} bytes", body.len()),
        }
    }
}

/// Tells the request in a few words: `claude-x, 24 tools, 3 messages`.
impl fmt::Display for MessagesRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tools, messages) = (self.tools.len(), self.messages.len());
        write!(f, "{}, {tools} tools, {messages} messages", self.model)
    }
}
