//! What was said so far, and how much room it takes.

use autonoe_core::ToolDefinition;

use crate::contract::{Message, ModelReply, PartKind, ToolResult};

/// What was said so far. Every call in it has a result before the model is asked again.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    /// How many of the messages, from the first on, the provider has counted.
    counted: usize,
    /// What it counted, with all that is sent beside the messages.
    tokens: u64,
    /// What is sent beside the messages, as long as nobody has counted it.
    beside: u64,
}

impl Conversation {
    /// Begins a conversation that is always sent with `system` and `tools`.
    pub(super) fn new(system: &str, tools: &[ToolDefinition]) -> Self {
        let described = tools.iter().map(|tool| {
            let schema = tool.input_schema.to_string();
            tool.name.len() + tool.description.len() + schema.len()
        });
        let bytes = system.len() + described.sum::<usize>();
        Self {
            beside: tokens_of(bytes),
            ..Self::default()
        }
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Tells the model something.
    pub(super) fn tell(&mut self, text: impl Into<String>) {
        self.messages.push(Message::user(text));
    }

    /// Takes the model's answer. An answer without anything in it is not kept: no provider
    /// takes it back.
    pub(super) fn answered(&mut self, reply: &ModelReply) {
        if !reply.message.parts.is_empty() {
            self.messages.push(reply.message.clone().into());
        }
        let used = reply
            .usage
            .prompt()
            .saturating_add(reply.usage.completion());
        if used > 0 {
            self.tokens = used;
            self.counted = self.messages.len();
        }
    }

    /// Takes the results of all calls of the last answer.
    pub(super) fn results(&mut self, results: Vec<ToolResult>) {
        self.messages.push(Message::results(results));
    }

    /// Puts other messages in the place of all.
    pub(super) fn replace(&mut self, messages: Vec<Message>) {
        self.messages = messages;
        self.counted = 0;
        self.tokens = 0;
    }

    /// Returns how many tokens the next request has, rather too many than too few.
    pub(super) fn size(&self) -> u64 {
        let new = self.messages.get(self.counted..).unwrap_or_default();
        let known = if self.counted == 0 {
            self.beside
        } else {
            self.tokens
        };
        new.iter().map(size_of).sum::<u64>().saturating_add(known)
    }

    /// Returns what is sent beside the messages.
    pub(super) fn beside(&self) -> u64 {
        self.beside
    }
}

/// Returns how many tokens a message has, rather too many than too few.
pub(super) fn size_of(message: &Message) -> u64 {
    /// What a message costs for being one.
    const FRAME: u64 = 8;
    /// What a picture costs: more than any provider counts for one.
    const ATTACHMENT: u64 = 2_000;
    let (bytes, attachments) = match message {
        Message::User { text } => (text.len(), 0),
        Message::Assistant(said) => {
            let parts = said.parts.iter().map(|part| {
                let meant = match &part.kind {
                    PartKind::Text { text } | PartKind::Thinking { text } => text.len(),
                    PartKind::ToolCall { name, input, .. } => name.len() + input.to_string().len(),
                    PartKind::Opaque => 0,
                };
                let came = part
                    .wire
                    .as_ref()
                    .map_or(0, |wire| wire.item.to_string().len());
                meant.max(came)
            });
            (parts.sum(), 0)
        }
        Message::Results { results } => {
            let bytes = results
                .iter()
                .map(|result| result.output.len() + result.name.len());
            let attachments = results.iter().map(|result| result.attachments.len());
            (bytes.sum(), attachments.sum::<usize>())
        }
    };
    FRAME + tokens_of(bytes) + ATTACHMENT * attachments as u64
}

/// Returns how many tokens a text of so many bytes has at most, but for rare texts.
fn tokens_of(bytes: usize) -> u64 {
    // English has about four bytes to a token, code three and a half, Japanese a little under three.
    (bytes as u64).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use autonoe_core::TokenUsage;

    use super::*;
    use crate::contract::AssistantMessage;

    #[test]
    fn what_the_provider_counted_counts_and_the_rest_is_guessed() {
        let mut conversation = Conversation::new(&"s".repeat(300), &[]);
        conversation.tell("x".repeat(30));
        assert_eq!(conversation.size(), 100 + 8 + 10);

        let usage = TokenUsage {
            input: 5,
            cache_read: 50,
            output: 3,
            reasoning: 2,
            ..TokenUsage::default()
        };
        let reply = ModelReply::new(AssistantMessage::text("y")).with_usage(usage);
        conversation.answered(&reply);
        assert_eq!(conversation.size(), 60);

        conversation.tell("x".repeat(30));
        assert_eq!(conversation.size(), 60 + 18);
    }

    #[test]
    fn an_answer_with_nothing_in_it_is_not_kept() {
        let mut conversation = Conversation::default();
        conversation.tell("x");

        conversation.answered(&ModelReply::new(AssistantMessage::default()));

        assert_eq!(conversation.messages().len(), 1);
    }
}
