//! A conversation in a file, from which a later session resumes it.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_core::{
    AgentError, AgentErrorKind, AgentSessionId, create_private_folder, read_text_file,
    replace_file_durably,
};
use serde::{Deserialize, Serialize};

use super::conversation::Conversation;
use crate::contract::Message;

/// The version of the file.
const VERSION: u32 = 1;

/// The largest file that is written and read.
const LARGEST: u64 = 64 * 1024 * 1024;

/// What is kept of a conversation between two sessions.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedConversation {
    version: u32,
    pub(super) messages: Vec<Message>,
    /// What persons said after the task.
    pub(super) instructions: Vec<String>,
}

impl SavedConversation {
    pub(super) fn new(conversation: &Conversation) -> Self {
        Self {
            version: VERSION,
            messages: conversation.messages().to_vec(),
            instructions: conversation.instructions().to_vec(),
        }
    }

    /// Reads the conversation `id` from `directory`.
    ///
    /// # Errors
    ///
    /// There is no such conversation, or its file cannot be read.
    pub(super) fn load(directory: &Path, id: &AgentSessionId) -> Result<Self, AgentError> {
        let path = path_of(directory, id)?;
        let text = read_text_file(&path, LARGEST)
            .map_err(|error| refused("the conversation cannot be read").because(error))?
            .ok_or_else(|| refused(format!("there is no conversation {id} in {directory:?}")))?;
        let saved: Self = serde_json::from_str(&text)
            .map_err(|error| refused(format!("{path:?} is no conversation")).because(error))?;
        if saved.version != VERSION {
            let version = saved.version;
            return Err(refused(format!(
                "{path:?} has the unknown version {version}"
            )));
        }
        Ok(saved)
    }

    /// Writes the conversation to `directory`, as `id`.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or is too large. Nothing is kept then: an earlier state of the
    /// conversation would be resumed otherwise.
    pub(super) fn save(&self, directory: &Path, id: &AgentSessionId) -> Result<(), AgentError> {
        let path = path_of(directory, id)?;
        let unwritable = |error| refused(format!("cannot write {path:?}")).because(error);
        let bytes = serde_json::to_vec(self)
            .map_err(|error| refused("the conversation cannot be written").because(error))?;
        create_private_folder(directory).map_err(unwritable)?;
        let saved = if bytes.len() as u64 > LARGEST {
            Err(refused("the conversation is too long to be kept"))
        } else {
            replace_file_durably(&path, &bytes).map_err(unwritable)
        };
        saved.inspect_err(|_| {
            let _ = fs::remove_file(&path);
        })
    }
}

/// Returns the file of the conversation `id`, which must not be a path.
fn path_of(directory: &Path, id: &AgentSessionId) -> Result<PathBuf, AgentError> {
    let id = id.as_str();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(is_plain) {
        return Err(refused(format!("{id:?} is no conversation of a model")));
    }
    Ok(directory.join(format!("{id}.json")))
}

/// Makes an error after which a new conversation may succeed.
fn refused(message: impl Into<String>) -> AgentError {
    AgentError::new(AgentErrorKind::Other, message).with_remedy("start a new conversation")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::contract::ModelRequest;

    fn id(text: &str) -> AgentSessionId {
        AgentSessionId::new(text)
    }

    fn saved() -> SavedConversation {
        let mut conversation = Conversation::new(ModelRequest::new([]));
        conversation.instruct("Build it.".to_owned());
        conversation.instruct("In blue.".to_owned());
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

    #[test]
    fn a_conversation_that_is_too_long_is_refused_and_no_earlier_state_of_it_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        saved().save(dir.path(), &id("a")).expect("it is saved");
        let mut long = saved();
        let length = usize::try_from(LARGEST).expect("a length");
        long.instructions = vec!["x".repeat(length)];

        let refused = long.save(dir.path(), &id("a")).expect_err("too long");

        assert!(refused.to_string().contains("too long"), "{refused}");
        assert!(!dir.path().join("a.json").exists());
    }

    #[test]
    fn what_is_no_conversation_is_refused_and_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        saved().save(dir.path(), &id("newer")).expect("it is saved");
        let newer = dir.path().join("newer.json");
        let text = fs::read_to_string(&newer).expect("it is there");
        fs::write(&newer, text.replace("\"version\":1", "\"version\":2")).expect("written");
        fs::write(dir.path().join("torn.json"), "{\"version\":1,").expect("written");

        for (name, expected) in [
            ("missing", "there is no conversation missing"),
            ("torn", "is no conversation"),
            ("newer", "has the unknown version 2"),
            ("../newer", "is no conversation of a model"),
            ("", "is no conversation of a model"),
        ] {
            let error = SavedConversation::load(dir.path(), &id(name)).expect_err(name);

            assert!(error.is_retryable(), "{name}");
            assert!(error.to_string().contains(expected), "{name}: {error}");
        }
        let torn = fs::read(dir.path().join("torn.json")).expect("it stays");
        assert_eq!(torn, b"{\"version\":1,");
    }
}
