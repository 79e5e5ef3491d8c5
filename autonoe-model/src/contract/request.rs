//! What a model is asked.

use autonoe_core::{ThinkingBudget, ToolDefinition};

use super::Message;

/// What a model is asked: a conversation, and what it may do.
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
    /// What holds for the whole conversation.
    pub system: Option<String>,
    /// The conversation, from its beginning.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<ToolDefinition>,
    /// Whether it may, must or must not call one.
    pub tool_choice: ToolChoice,
    /// How long the answer may be; `None` leaves it to the provider's client.
    pub max_output_tokens: Option<u32>,
    /// How much it may think; `None` leaves it to the model.
    pub thinking: Option<ThinkingBudget>,
}

impl ModelRequest {
    /// Asks with a conversation.
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

    /// Asks one thing.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self::new([Message::user(text)])
    }

    /// Sets what holds for the whole conversation.
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

    /// Sets how long the answer may be.
    #[must_use]
    pub fn with_max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets how much the model may think.
    #[must_use]
    pub fn with_thinking(mut self, budget: impl Into<Option<ThinkingBudget>>) -> Self {
        self.thinking = budget.into();
        self
    }
}

/// Whether a model may call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// It may.
    #[default]
    Auto,
    /// It must call at least one.
    Required,
    /// It must not; the tools are there only because earlier calls name them.
    None,
}
