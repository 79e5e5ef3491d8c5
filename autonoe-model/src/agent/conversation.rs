//! Conversation of a session, an estimate of its size in tokens, and [`SavedConversation`], a file from
//! which a later session resumes it.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::project::{create_private_folder, read_text_file, replace_file_durably};
use autonoe_core::time::AgentSessionId;
use serde::{Deserialize, Serialize};

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

/// Version of the file format.
const VERSION: u32 = 1;

/// Maximum size of a file in bytes, for writing and reading.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Persistent part of a conversation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedConversation {
    version: u32,
    pub(super) messages: Vec<Message>,
    /// User instructions after the task.
    pub(super) instructions: Vec<String>,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl SavedConversation {
    pub(super) fn new(conversation: &Conversation) -> Self {
        Self {
            version: VERSION,
            messages: conversation.messages().to_vec(),
            instructions: conversation.instructions().to_vec(),
        }
    }

    /// Loads the conversation `id` from `directory`.
    ///
    /// # Errors
    ///
    /// The conversation does not exist, or its file cannot be read.
    pub(super) fn load(directory: &Path, id: &AgentSessionId) -> Result<Self, AgentError> {
        let path = path_of(directory, id)?;
        let text = read_text_file(&path, MAX_BYTES)
            .map_err(|error| refused("the conversation cannot be read").with_source(error))?
            .ok_or_else(|| refused(format!("there is no conversation {id} in {directory:?}")))?;
        let corrupt = |error: serde_json::Error| {
            refused(format!("{path:?} is not a saved conversation")).with_source(error)
        };
        // The rest of another version may have another meaning.
        let Versioned { version } = serde_json::from_str(&text).map_err(corrupt)?;
        if version != VERSION {
            return Err(refused(format!(
                "{path:?} has the unknown version {version}"
            )));
        }
        serde_json::from_str(&text).map_err(corrupt)
    }

    /// Saves the conversation to `directory` as `id`.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or is too large. The old file is then removed, because an
    /// outdated state must not be resumed.
    pub(super) fn save(&self, directory: &Path, id: &AgentSessionId) -> Result<(), AgentError> {
        let path = path_of(directory, id)?;
        let unwritable = |error| refused(format!("cannot write {path:?}")).with_source(error);
        let bytes = serde_json::to_vec(self)
            .map_err(|error| refused("the conversation cannot be written").with_source(error))?;
        create_private_folder(directory).map_err(unwritable)?;
        let saved = if bytes.len() as u64 > MAX_BYTES {
            Err(refused("the conversation is too long to be saved"))
        } else {
            replace_file_durably(&path, &bytes).map_err(unwritable)
        };
        saved.inspect_err(|_| {
            let _ = fs::remove_file(&path);
        })
    }
}

/// Returns the file of the conversation `id`, which must not contain path separators.
fn path_of(directory: &Path, id: &AgentSessionId) -> Result<PathBuf, AgentError> {
    let id = id.as_str();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(is_plain) {
        return Err(refused(format!(
            "{id:?} is not the ID of a conversation with a model"
        )));
    }
    Ok(directory.join(format!("{id}.json")))
}

/// Creates an error after which a new conversation may succeed.
fn refused(message: impl Into<String>) -> AgentError {
    AgentError::new(AgentErrorKind::Other, message).with_remedy("start a new conversation")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use autonoe_core::agent::TokenUsage;

    use super::*;
    use crate::contract::{AssistantMessage, MessagePart, ModelRequest};

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

    fn id(text: &str) -> AgentSessionId {
        AgentSessionId::new(text)
    }

    fn saved() -> SavedConversation {
        let mut conversation = Conversation::new(ModelRequest::new([]));
        conversation.add_instruction("Build it.".to_owned());
        conversation.add_instruction("In blue.".to_owned());
        SavedConversation::new(&conversation)
    }

    #[test]
    fn a_conversation_is_read_as_it_was_written_and_only_by_its_owner() {
        let dir = tempfile::tempdir().expect("a directory");
        let directory = dir.path().join("a/b");

        saved()
            .save(&directory, &id("model-1"))
            .expect("it is saved");
        let loaded = SavedConversation::load(&directory, &id("model-1")).expect("it is there");

        assert_eq!(
            loaded.messages,
            [Message::user("Build it."), Message::user("In blue.")]
        );
        assert_eq!(loaded.instructions, ["In blue."]);
        let mode = fs::metadata(&directory).expect("it is there").permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
    }

    /// A conversation as version 0.1 wrote it. It is never written again.
    #[test]
    fn a_conversation_of_version_1_is_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let fixture = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/compat/v1/conversation.json"
        );
        fs::copy(fixture, dir.path().join("model-1.json")).expect("writable");

        let saved = SavedConversation::load(dir.path(), &id("model-1")).expect("it is valid");

        assert_eq!(saved.instructions, [""; 0]);
        let [question, call, results, answer] = &saved.messages[..] else {
            panic!("four messages: {:?}", saved.messages);
        };
        assert_eq!(*question, Message::user("why does the build fail?"));
        let written = |message: &Message| serde_json::to_value(message).expect("it serialises");
        let call = &written(call)["parts"][1];
        assert_eq!(call["id"], "call_1");
        assert_eq!(call["name"], "Read");
        assert_eq!(call["input"]["file_path"], "/srv/asking/Makefile");
        let Message::Results { results } = results else {
            panic!("results: {results:?}");
        };
        assert_eq!((results.len(), &*results[0].name), (1, "Read"));
        let answer = &written(answer)["parts"][0];
        assert_eq!(answer["text"], "The Makefile has a typo in line 1.");
        assert_eq!(answer["wire"]["protocol"], "openai-chat");
    }

    #[test]
    fn a_conversation_that_is_too_long_is_refused_and_no_earlier_state_of_it_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        saved().save(dir.path(), &id("a")).expect("it is saved");
        let mut long = saved();
        let length = usize::try_from(MAX_BYTES).expect("a length");
        long.instructions = vec!["x".repeat(length)];

        let refused = long.save(dir.path(), &id("a")).expect_err("too long");

        assert!(refused.to_string().contains("too long"), "{refused}");
        assert!(!dir.path().join("a.json").exists());
    }

    #[test]
    fn unreadable_conversation_is_refused_and_not_overwritten() {
        let dir = tempfile::tempdir().expect("a directory");
        saved().save(dir.path(), &id("newer")).expect("it is saved");
        let newer = dir.path().join("newer.json");
        let text = fs::read_to_string(&newer).expect("it is there");
        fs::write(&newer, text.replace("\"version\":1", "\"version\":2")).expect("written");
        fs::write(dir.path().join("torn.json"), "{\"version\":1,").expect("written");
        let changed = r#"{"version": 3, "turns": [{"text": "Build it."}]}"#;
        fs::write(dir.path().join("changed.json"), changed).expect("written");

        for (name, expected) in [
            ("missing", "there is no conversation missing"),
            ("torn", "is not a saved conversation"),
            ("newer", "has the unknown version 2"),
            ("changed", "has the unknown version 3"),
            ("../newer", "is not the ID of a conversation"),
            ("", "is not the ID of a conversation"),
        ] {
            let error = SavedConversation::load(dir.path(), &id(name)).expect_err(name);

            assert!(error.is_retryable(), "{name}");
            assert!(error.to_string().contains(expected), "{name}: {error}");
        }
        let torn = fs::read(dir.path().join("torn.json")).expect("it stays");
        assert_eq!(torn, b"{\"version\":1,");
        let content = fs::read_to_string(dir.path().join("changed.json")).expect("it stays");
        assert_eq!(content, changed);
    }
}
