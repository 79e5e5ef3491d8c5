//! Conversation of a session and an estimate of its size in tokens.

use super::prompts::NO_RESULT;
use crate::contract::{Message, ModelReply, ModelRequest, PartKind, ToolResult};

/// Messages of a session, kept as the next request. Every call has a result before the next user
/// message.
///
/// The conversation is a request instead of building one for each round, which would copy a long
/// conversation each time.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    request: ModelRequest,
    /// User instructions after the task. Compaction keeps them.
    instructions: Vec<String>,
    /// Tokens that the provider counted, including everything that is sent beside the messages.
    counted: Option<u64>,
    /// Estimated tokens of the messages since then.
    added: u64,
    /// Estimated tokens of everything that is sent beside the messages, until the provider has
    /// counted.
    beside: u64,
}

impl Conversation {
    /// Starts a conversation from a request with system prompt and tools.
    pub(super) fn new(request: ModelRequest) -> Self {
        let described = request.tools.iter().map(|tool| {
            let schema = tool.input_schema.to_string();
            tool.name.len() + tool.description.len() + schema.len()
        });
        let system = request.system.as_ref().map_or(0, String::len);
        Self {
            beside: tokens_of(system + described.sum::<usize>()),
            added: request.messages.iter().map(estimate_tokens).sum(),
            counted: None,
            instructions: Vec::new(),
            request,
        }
    }

    /// Continues a saved conversation.
    pub(super) fn resume(&mut self, messages: Vec<Message>, instructions: Vec<String>) {
        self.instructions = instructions;
        self.replace(messages);
    }

    /// Returns the next request to the model.
    pub(super) fn request(&self) -> &ModelRequest {
        &self.request
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.request.messages
    }

    fn push(&mut self, message: Message) {
        self.added = self.added.saturating_add(estimate_tokens(&message));
        self.request.messages.push(message);
    }

    /// Returns the user instructions after the task.
    pub(super) fn instructions(&self) -> &[String] {
        &self.instructions
    }

    /// Adds a message of the user: the task, or a later instruction.
    pub(super) fn add_instruction(&mut self, text: String) {
        if !self.messages().is_empty() {
            self.instructions.push(text.clone());
        }
        self.add_message(text);
    }

    /// Adds a message for the model. Calls without a result get one that says so.
    pub(super) fn add_message(&mut self, text: impl Into<String>) {
        self.fail_pending_calls(NO_RESULT);
        self.push(Message::user(text));
    }

    /// Adds failed results with `reason` for the calls of the last answer that have none.
    pub(super) fn fail_pending_calls(&mut self, reason: &str) {
        let Some(Message::Assistant(answer)) = self.messages().last() else {
            return;
        };
        let failed = |(id, name, _): (&str, &str, _)| ToolResult::failed(id, name, reason);
        let results: Vec<_> = answer.calls().map(failed).collect();
        if !results.is_empty() {
            self.results(results);
        }
    }

    /// Adds the model's answer. An empty answer is not kept, because no provider accepts it in a
    /// request.
    pub(super) fn add_reply(&mut self, reply: &ModelReply) {
        if !reply.message.parts.is_empty() {
            self.push(reply.message.clone().into());
        }
        if let Some(usage) = reply.usage.complete().filter(|usage| usage.total() > 0) {
            self.counted = Some(usage.total());
            self.added = 0;
        }
    }

    /// Adds the results of all calls of the last answer.
    pub(super) fn results(&mut self, results: Vec<ToolResult>) {
        self.push(Message::results(results));
    }

    /// Replaces all messages.
    pub(super) fn replace(&mut self, messages: Vec<Message>) {
        self.added = messages.iter().map(estimate_tokens).sum();
        self.counted = None;
        self.request.messages = messages;
    }

    /// Estimates the tokens of the next request, rather too many than too few.
    pub(super) fn size(&self) -> u64 {
        let known = self.counted.unwrap_or(self.beside);
        known.saturating_add(self.added)
    }

    /// Returns the estimated tokens of everything that is sent beside the messages.
    pub(super) fn overhead(&self) -> u64 {
        self.beside
    }
}

/// Estimates the tokens of a message, rather too many than too few.
pub(super) fn estimate_tokens(message: &Message) -> u64 {
    /// Fixed tokens per message.
    const FRAME: u64 = 8;
    /// Tokens of an image: more than any provider counts for one.
    const ATTACHMENT: u64 = 2_000;
    let (bytes, attachments) = match message {
        Message::User { text } => (text.len(), 0),
        Message::Assistant(answer) => {
            let parts = answer.parts.iter().map(|part| {
                let content_bytes = match &part.kind {
                    PartKind::Text { text } | PartKind::Thinking { text } => text.len(),
                    PartKind::ToolCall { name, input, .. } => name.len() + input.to_string().len(),
                    PartKind::Opaque => 0,
                };
                let original = part
                    .wire
                    .as_ref()
                    .map_or(0, |wire| wire.item.to_string().len());
                content_bytes.max(original)
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

/// Returns the maximum number of tokens of a text with this many bytes, except for rare texts.
fn tokens_of(bytes: usize) -> u64 {
    // English has about four bytes per token, code three and a half, Japanese a little under three.
    (bytes as u64).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::TokenUsage;

    use super::*;
    use crate::contract::{AssistantMessage, MessagePart};

    #[test]
    fn size_uses_provider_counts_and_estimates_the_rest() {
        let request = ModelRequest::new([]).with_system("s".repeat(300));
        let mut conversation = Conversation::new(request);
        conversation.add_message("x".repeat(30));
        assert_eq!(conversation.size(), 100 + 8 + 10);

        let usage = TokenUsage {
            input: 5,
            cache_read: 50,
            output: 3,
            reasoning: 2,
            ..TokenUsage::default()
        };
        let reply = ModelReply::new(AssistantMessage::text("y")).with_usage(usage);
        conversation.add_reply(&reply);
        assert_eq!(conversation.size(), 60);

        conversation.add_message("x".repeat(30));
        assert_eq!(conversation.size(), 60 + 18);

        conversation.replace(vec![Message::user("x".repeat(60))]);
        assert_eq!(conversation.size(), 100 + 8 + 20);
    }

    #[test]
    fn pending_calls_get_results_before_the_next_message() {
        let mut conversation = Conversation::new(ModelRequest::new([]));
        conversation.add_message("x");
        let calls = ["a", "b"].map(|id| MessagePart::tool_call(id, "Read", serde_json::json!({})));
        conversation.add_reply(&ModelReply::new(AssistantMessage::new(calls)));

        conversation.add_message("y");
        conversation.fail_pending_calls("there is none");

        let Some(Message::Results { results }) = conversation.messages().get(2) else {
            panic!("{conversation:?}")
        };
        let ids: Vec<_> = results.iter().map(|it| it.call_id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        assert!(
            results
                .iter()
                .all(|it| it.is_error && it.output == NO_RESULT)
        );
        assert_eq!(conversation.messages().len(), 4);
    }

    #[test]
    fn an_empty_answer_is_not_stored() {
        let mut conversation = Conversation::new(ModelRequest::new([]));
        conversation.add_message("x");

        conversation.add_reply(&ModelReply::new(AssistantMessage::default()));

        assert_eq!(conversation.messages().len(), 1);
    }
}
