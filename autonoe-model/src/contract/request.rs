//! [`ModelRequest`]: request to a model.

use autonoe_core::agent::ThinkingBudget;
use autonoe_core::tool::ToolDefinition;

use super::Message;

/// Request to a model: a conversation, tools and limits.
///
/// ```
/// use autonoe_model::{Message, ModelRequest};
///
/// let request = ModelRequest::prompt("Add the two numbers.")
///     .with_system("You are terse.".to_owned())
///     .with_message(Message::user("1 and 2"));
///
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// System prompt.
    pub system: Option<String>,
    /// Complete conversation, from its beginning.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may, must or must not call a tool.
    pub tool_choice: ToolChoice,
    /// Maximum length of the answer in tokens; `None` leaves it to the provider's client.
    pub max_output_tokens: Option<u32>,
    /// Thinking budget; `None` leaves it to the model.
    pub thinking: Option<ThinkingBudget>,
}

impl ModelRequest {
    /// Creates a request with a conversation.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            system: None,
            messages: messages.into_iter().collect(),
            tools: Vec::new(),
            tool_choice: ToolChoice::default(),
            max_output_tokens: None,
            thinking: None,
        }
    }

    /// Creates a request with one user message.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self::new([Message::user(text)])
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<Option<String>>) -> Self {
        self.system = text.into();
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Sets whether the model may, must or must not call a tool.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Sets the maximum length of the answer in tokens.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the thinking budget.
    #[must_use]
    pub fn with_thinking(mut self, budget: impl Into<Option<ThinkingBudget>>) -> Self {
        self.thinking = budget.into();
        self
    }
}

/// Whether a model may call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// The model may call tools.
    #[default]
    Auto,
    /// The model must call at least one.
    Required,
    /// The model must not call tools. They are only sent because earlier calls refer to them.
    None,
}
