//! Runs: sessions one after another until the work is done or a limit is hit.

pub(crate) mod budget_watch;
pub(crate) mod build_error;
mod builder;
pub(crate) mod control;
pub(crate) mod driver;
mod exit_reason;
mod flow_report;
mod instructions;
mod journal;
mod machine;
mod preflight;
pub(crate) mod prepare;
mod progress;
mod project_memory;
mod quota;
mod recorded_run;
pub(crate) mod report;
mod requests;
pub(crate) mod run_context;
pub(crate) mod runner;
mod session;
mod session_run;
pub(crate) mod session_setup;
pub(crate) mod session_task;
mod spans;
mod stream_reporter;
pub(crate) mod wait;
mod workflow;

pub use build_error::BuildError;
pub use builder::SessionRunnerBuilder;
pub use control::{RunControl, RunMessage, RunRequest};
pub use journal::{Durability, JournalError, JournalLine, NoJournal, RunJournal};
pub(crate) use recorded_run::{LedgerHistory, ReadLedgerHistory};

pub use exit_reason::{ExitClass, ExitReason};
pub use flow_report::{FlowExit, FlowReport};
pub use instructions::{
    FixedInstructions, InstructionError, InstructionSelector, InstructionSource, SelectionContext,
};
pub use machine::{LimitOverrides, RunAction, RunFact, RunLimits, RunMachine, SessionPlan};
pub use prepare::{take_over, take_over_resumed};
pub use progress::{Workspace, WorkspaceSnapshot};
pub use project_memory::ProjectMemory;
pub use quota::{OnQuota, QuotaBackoff};
pub use recorded_run::RecordedRun;
pub use report::{ReportedCounts, RunReport};
pub use runner::SessionRunner;
pub use session::{Session, SessionLimits};
pub use session_setup::SessionAccess;
pub use spans::{SPAN_TARGET, TraceContent};
pub use workflow::{Models, Workflow};
