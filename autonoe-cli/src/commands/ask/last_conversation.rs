//! Record of the last conversation in a project, for `autonoe ask --continue`.

use std::fs;
use std::io;
use std::path::PathBuf;

use autonoe_app::BackendChoice;
use autonoe_core::Project;
use autonoe_core::agent::CostTotal;
use autonoe_core::project::{
    create_private_folder, read_text_file, remove_folder, replace_file_durably,
};
use autonoe_core::time::AgentSessionId;
use serde::{Deserialize, Serialize};

use crate::error::{CliError, error_chain};

const VERSION: u32 = 1;
const MAX_BYTES: u64 = 64 * 1024;

/// The last conversation in a project, as `.autonoe/conversations/ask.json` records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LastConversation {
    version: u32,
    /// The tag of the backend that stores the conversation.
    backend: String,
    pub(super) conversation: AgentSessionId,
    /// The cost of all answers in the conversation.
    pub(super) cost: CostTotal,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl LastConversation {
    pub(super) fn new(backend: &str, conversation: AgentSessionId, cost: CostTotal) -> Self {
        Self {
            version: VERSION,
            backend: backend.to_owned(),
            conversation,
            cost,
        }
    }

    /// Returns an error unless the backend with `tag` stores the conversation.
    fn check_backend(&self, tag: &str) -> Result<(), CliError> {
        let recorded = self.backend.as_str();
        if recorded == tag {
            return Ok(());
        }
        let form = BackendChoice::form_of(recorded).unwrap_or(recorded);
        let message = format!("the last conversation is with the backend {recorded}, not {tag}");
        Err(CliError::failure(message).with_hint(format!(
            "use --backend {form}, or omit --continue to start a new conversation"
        )))
    }
}

/// Paths of the conversation files in a project.
#[derive(Clone, Debug)]
pub(super) struct ConversationFiles {
    folder: PathBuf,
}

impl ConversationFiles {
    pub(super) fn new(project: &Project) -> Self {
        Self {
            folder: project.conversations_dir(),
        }
    }

    /// Returns the directory in which backends store the conversation itself.
    pub(super) fn content(&self) -> PathBuf {
        self.folder.join("ask")
    }

    fn record(&self) -> PathBuf {
        self.folder.join("ask.json")
    }

    /// Loads the record of the last conversation with the backend `tag`.
    ///
    /// # Errors
    ///
    /// There is no record, it cannot be read, or it belongs to another backend.
    pub(super) fn load_for(&self, tag: &str) -> Result<LastConversation, CliError> {
        let last = self.load()?;
        last.check_backend(tag)?;
        Ok(last)
    }

    fn load(&self) -> Result<LastConversation, CliError> {
        let path = self.record();
        let unreadable = |reason: String| {
            CliError::failure(format!("{path:?} cannot be read: {reason}"))
                .with_hint("omit --continue to start a new conversation")
        };
        let text =
            read_text_file(&path, MAX_BYTES).map_err(|error| unreadable(error_chain(&error)))?;
        let text = text.ok_or_else(|| {
            CliError::failure("there is no conversation to continue in this project")
                .with_hint("omit --continue to start one")
        })?;
        let corrupt = |error: serde_json::Error| unreadable(error_chain(&error));
        // The rest of another version may have another meaning.
        let Versioned { version } = serde_json::from_str(&text).map_err(corrupt)?;
        if version != VERSION {
            return Err(unreadable(format!("version {version} is not supported")));
        }
        serde_json::from_str(&text).map_err(corrupt)
    }

    /// Saves `record` as the last conversation.
    pub(super) fn save(&self, record: &LastConversation) -> io::Result<()> {
        create_private_folder(&self.folder)?;
        replace_file_durably(&self.record(), &serde_json::to_vec(record)?)
    }

    /// Deletes the last conversation.
    pub(super) fn delete(&self) -> io::Result<()> {
        // The record goes first, so that it never names a deleted conversation.
        match fs::remove_file(self.record()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        remove_folder(&self.content())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_until_it_is_deleted() {
        let dir = tempfile::tempdir().expect("a directory");
        let project = Project::find(dir.path(), None).expect("it is there");
        let files = ConversationFiles::new(&project);
        let record = LastConversation::new(
            "model",
            AgentSessionId::new("model-1"),
            CostTotal::unknown(),
        );

        project.ensure_state_dir().expect("writable");
        files.save(&record).expect("writable");
        fs::create_dir(files.content()).expect("writable");
        fs::write(files.content().join("model-1.json"), "{}").expect("writable");

        assert_eq!(files.load().expect("it is there"), record);
        files.delete().expect("it is deleted");
        assert!(!files.content().exists());
        let error = files.load().expect_err("it is gone");
        assert_eq!(
            error.to_string(),
            "there is no conversation to continue in this project"
        );
        files.delete().expect("there is nothing to delete");
    }

    /// A record as version 0.1 wrote it. It is never written again.
    #[test]
    fn a_record_of_version_1_is_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let project = Project::find(dir.path(), None).expect("it is there");
        let files = ConversationFiles::new(&project);
        fs::create_dir_all(&files.folder).expect("writable");
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compat/v1/ask.json");
        fs::copy(fixture, files.record()).expect("writable");

        let record = files.load_for("model").expect("it is valid");

        assert_eq!(record.conversation.as_str(), "model-2c151cfa9fda6724");
        assert_eq!(record.cost.known_usd.picos(), 360_000_000);
        assert_eq!(record.cost.unknown_parts, 0);
    }

    #[test]
    fn a_record_that_is_not_understood_is_an_error_with_its_path() {
        let dir = tempfile::tempdir().expect("a directory");
        let project = Project::find(dir.path(), None).expect("it is there");
        let files = ConversationFiles::new(&project);
        fs::create_dir_all(&files.folder).expect("writable");
        let later = r#"{"version": 2, "backend": "model", "conversation": "a",
            "cost": {"knownUsd": "0", "unknownParts": 0}}"#;
        for (text, reason) in [
            ("no JSON", "expected"),
            (r#"{"version": 1}"#, "missing field"),
            (later, "version 2 is not supported"),
            (
                r#"{"version": 3, "conversations": [{"id": 1}]}"#,
                "version 3 is not supported",
            ),
        ] {
            fs::write(files.record(), text).expect("writable");

            let error = files.load().expect_err("it is not understood").to_string();

            assert!(
                error.contains("ask.json") && error.contains(reason),
                "{error}"
            );
            assert_eq!(fs::read_to_string(files.record()).expect("it stays"), text);
        }
    }

    #[test]
    fn a_conversation_belongs_to_its_backend() {
        let record = LastConversation::new(
            "model",
            AgentSessionId::new("model-1"),
            CostTotal::default(),
        );

        assert!(record.check_backend("model").is_ok());
        let error = record.check_backend("codex").expect_err("another backend");
        assert!(error.to_string().contains("model, not codex"), "{error}");
        let hint = error.hint().expect("a hint");
        assert!(hint.contains("--backend model:PROVIDER/MODEL"), "{hint}");
    }
}
