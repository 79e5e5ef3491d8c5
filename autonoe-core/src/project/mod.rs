//! The project on disk.

mod anchor;
mod config;
mod durable;
mod durable_file;
mod error;
mod file_kind;
mod file_repository;
mod file_revision;
mod git_ignore;
mod hosting;
mod instructions;
mod journal;
mod json_words;
mod layout;
mod ledger_hold;
mod lock_process;
mod missing_ledger;
mod no_follow;
mod plain_file;
mod preview;
mod project_ground;
mod project_run;
mod run_lock;
mod status_file;
mod status_record;
mod status_text;
mod text_file;
mod writable;

pub use config::{
    AgentConfig, AllowCommandsConfig, ConfigError, ConfigErrorKind, ConfigFile, ConfigLine,
    EffectiveConfig, EnvironmentConfig, NamedBackend, PLAYWRIGHT_MCP_TOOLS, Permissions, Profiles,
    SandboxSwitch, Source, SwitchSource, TieredCommandsConfig,
};
pub use durable_file::{create_file_durably, replace_file_durably};
pub use error::ProjectError;
pub use file_kind::FileKind;
pub use file_repository::FileDeliverableRepository;
pub use hosting::ProjectSessionHost;
pub use instructions::{
    BuiltInInstructions, InstructionOrigin, InstructionText, ProjectInstructions,
};
pub use journal::{
    BlockedCall, FileJournal, Journal, JournalEntry, JournalIndex, JournalReadError, JournalTail,
    RunEntries, RunStory, RunStoryBuilder, SessionStory, WhyStopped,
};
pub use journal::{
    ChangeEntry, CostPoint, DeniedEntry, Idle, IdleSpan, ProgressPoint, RestoredEntry, RunTimeline,
    SessionSpan,
};
pub use journal::{JOURNAL_JOB, JournalAsk, JournalPage};
pub use json_words::json_complaint;
pub use layout::Project;
pub use lock_process::LockProcess;
pub use no_follow::{
    create_folder, create_private_folder, open_file_to_append, remove_folder, write_new_file,
};
pub use preview::{NextStep, ResumedRun, RunPreview};
pub use project_ground::{ProjectGround, ProjectTaking};
pub use project_run::{ProjectRun, ProjectRunError};
pub use run_lock::{RunLock, RunLockHeld, RunLockHolder};
pub use status_record::StatusRecord;
pub use text_file::{TextFileError, read_text_file};
