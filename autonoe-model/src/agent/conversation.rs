//! What was said so far, and how much room it takes.

use super::prompts::NO_RESULT;
use crate::contract::{Message, ModelReply, ModelRequest, PartKind, ToolResult};

/// What was said so far, as the model is asked with it. Every call in it has a result before the
/// model is told anything else.
///
/// It is kept as a request and not made into one for each round: a long conversation would be
/// copied as often as something is added to it.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    request: ModelRequest,
    /// What persons told after the task. It holds, however much else is left out.
    instructions: Vec<String>,
    /// What the provider counted, with all that is sent beside the messages.
    counted: Option<u64>,
    /// What was added since then.
    added: u64,
    /// What is sent beside the messages, as long as nobody has counted it.
    beside: u64,
}

impl Conversation {
    /// Begins a conversation that is always sent with all that `request` has.
    pub(super) fn new(request: ModelRequest) -> Self {
        let described = request.tools.iter().map(|tool| {
            let schema = tool.input_schema.to_string();
            tool.name.len() + tool.description.len() + schema.len()
        });
        let system = request.system.as_ref().map_or(0, String::len);
        Self {
            beside: tokens_of(system + described.sum::<usize>()),
            added: request.messages.iter().map(size_of).sum(),
            counted: None,
            instructions: Vec::new(),
            request,
        }
    }

    /// Resumes a conversation that was saved.
    pub(super) fn resume(&mut self, messages: Vec<Message>, instructions: Vec<String>) {
        self.instructions = instructions;
        self.replace(messages);
    }

    /// Returns what the model is asked next.
    pub(super) fn request(&self) -> &ModelRequest {
        &self.request
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.request.messages
    }

    fn push(&mut self, message: Message) {
        self.added = self.added.saturating_add(size_of(&message));
        self.request.messages.push(message);
    }

    /// Returns what persons told after the task.
    pub(super) fn instructions(&self) -> &[String] {
        &self.instructions
    }

    /// Tells the model what a person says: the task, and later more.
    pub(super) fn instruct(&mut self, text: String) {
        if !self.messages().is_empty() {
            self.instructions.push(text.clone());
        }
        self.tell(text);
    }

    /// Tells the model something.
    pub(super) fn tell(&mut self, text: impl Into<String>) {
        self.answer_calls(NO_RESULT);
        self.push(Message::user(text));
    }

    /// Gives the calls of the last answer that have no results yet one that says `why`.
    pub(super) fn answer_calls(&mut self, why: &str) {
        let Some(Message::Assistant(said)) = self.messages().last() else {
            return;
        };
        let failed = |(id, name, _): (&str, &str, _)| ToolResult::failed(id, name, why);
        let results: Vec<_> = said.calls().map(failed).collect();
        if !results.is_empty() {
            self.results(results);
        }
    }

    /// Takes the model's answer. An answer without anything in it is not kept: no provider
    /// takes it back.
    pub(super) fn answered(&mut self, reply: &ModelReply) {
        if !reply.message.parts.is_empty() {
            self.push(reply.message.clone().into());
        }
        if let Some(told) = reply.usage.told().filter(|told| told.total() > 0) {
            self.counted = Some(told.total());
            self.added = 0;
        }
    }

    /// Takes the results of all calls of the last answer.
    pub(super) fn results(&mut self, results: Vec<ToolResult>) {
        self.push(Message::results(results));
    }

    /// Puts other messages in the place of all.
    pub(super) fn replace(&mut self, messages: Vec<Message>) {
        self.added = messages.iter().map(size_of).sum();
        self.counted = None;
        self.request.messages = messages;
    }

    /// Returns how many tokens the next request has, rather too many than too few.
    pub(super) fn size(&self) -> u64 {
        let known = self.counted.unwrap_or(self.beside);
        known.saturating_add(self.added)
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
    use crate::contract::{AssistantMessage, Part};

    #[test]
    fn what_the_provider_counted_counts_and_the_rest_is_guessed() {
        let request = ModelRequest::new([]).with_system("s".repeat(300));
        let mut conversation = Conversation::new(request);
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

        conversation.replace(vec![Message::user("x".repeat(60))]);
        assert_eq!(conversation.size(), 100 + 8 + 20);
    }

    #[test]
    fn calls_have_results_before_the_model_is_told_anything_else() {
        let mut conversation = Conversation::new(ModelRequest::new([]));
        conversation.tell("x");
        let calls = ["a", "b"].map(|id| Part::tool_call(id, "Read", serde_json::json!({})));
        conversation.answered(&ModelReply::new(AssistantMessage::new(calls)));

        conversation.tell("y");
        conversation.answer_calls("there is none");

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
    fn an_answer_with_nothing_in_it_is_not_kept() {
        let mut conversation = Conversation::new(ModelRequest::new([]));
        conversation.tell("x");

        conversation.answered(&ModelReply::new(AssistantMessage::default()));

        assert_eq!(conversation.messages().len(), 1);
    }
}
