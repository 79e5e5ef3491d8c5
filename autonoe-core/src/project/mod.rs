//! Project on disk: layout, lock, ledger file, journal, configuration, instructions.

pub(crate) mod append_log;
pub(crate) mod config;
mod durable;
mod durable_file;
mod error;
mod file_repository;
mod git_ignore;
mod instructions;
pub(crate) mod journal;
pub(crate) mod json_error;
mod layout;
mod ledger_hold;
pub(crate) mod log_lines;
mod log_writers;
pub(crate) mod missing_ledger;
mod no_follow;
mod open_project;
pub(crate) mod path_identity;
mod preview;
mod project_run;
mod requests;
mod run_lock;
mod run_lock_held;
pub(crate) mod safe_read;
mod session_host;
mod status_file;
mod status_text;

pub use append_log::{AppendLog, LogEntry};
pub use config::{
    AgentConfig, AllowCommandsConfig, ConfigError, ConfigErrorKind, ConfigFile, ConfigLine,
    EffectiveConfig, EnvironmentConfig, NamedBackend, PLAYWRIGHT_MCP_TOOLS, Permissions, Profiles,
    SandboxSwitch, Source, SwitchSource, TieredCommandsConfig, suggest,
};
/// Parts of configuration readers, for the crates of this project.
#[doc(hidden)]
pub mod config_parts {
    pub use crate::project::config::{below, did_you_mean, inside, read_part, read_spec, take_tag};
}
pub use durable_file::{create_file_durably, replace_file_durably};
pub use error::ProjectError;
pub use file_repository::FileDeliverableRepository;
pub use instructions::{
    BuiltInInstructions, InstructionOrigin, InstructionText, ProjectInstructions,
};
pub use journal::{
    ChangeEntry, CostPoint, DeniedEntry, FileJournal, IdleReason, IdleSpan, JOURNAL_JOB, Journal,
    JournalEntry, JournalIndex, JournalPage, JournalPageRequest, JournalReadError, JournalTail,
    ProgressPoint, RestoredEntry, RunEntries, RunHistory, RunStopReason, RunTimeline,
    RunTimelineBuilder, SessionSpan,
};
pub use json_error::json_error_message;
pub use layout::{Project, Specification};
pub use log_writers::LogWriters;
pub use no_follow::{
    create_folder, create_private_folder, open_file_to_append, remove_folder, write_new_file,
};
pub use open_project::{OpenProject, OpenProjectOptions, ProjectRunError};
pub use preview::{NextAction, ResumedRun, RunPreview};
pub use project_run::ProjectRun;
pub use requests::{OperatorRequest, PendingRequest, RequestFolder, RequestForwarder};
pub use run_lock::RunLock;
pub use run_lock_held::{LockProcess, RunLockHeld, RunLockHolder};
pub use safe_read::{FileKind, TextFileError, read_text_file};
pub use session_host::ProjectSessionHost;
pub use status_file::StatusRecord;
