//! The loop: sessions one after another until the work is done.

mod build_error;
mod builder;
mod commands;
mod control;
mod drive;
mod equipment;
mod inbox;
mod journal;
mod journal_observer;
mod ledger_history;
mod ledger_recorder;
mod lending;
mod machine;
mod message;
mod narrator;
mod perform;
mod preflight;
mod prepare;
mod progress;
mod prompt;
mod recorded;
mod runner;
mod session;
mod session_tally;
mod setting;
mod spans;
mod takeover;
mod task;
mod uncounted;
mod waiting;

pub use build_error::BuildError;
pub use builder::SessionRunnerBuilder;
pub use control::RunControl;
pub use journal::{Durability, JournalError, JournalLine, NoJournal, RunJournal};
pub(crate) use ledger_history::{LedgerHistory, ReadLedgerHistory};
pub use lending::{
    FlowStart, NotOpened, OpenSessions, PerformedCall, PerformedSession, RecordedFlow,
    SessionAccess, SessionOrder, SessionWait, Sessions,
};
pub use machine::{GivenLimits, RunAction, RunFact, RunLimits, RunMachine, SessionPlan};
pub use message::{RunMessage, RunRequest};
pub use recorded::RecordedRun;
pub use runner::SessionRunner;
pub use session::{Session, SessionLimits};
pub use spans::{SPAN_TARGET, TraceContent};
#[cfg(feature = "project")]
pub(crate) use takeover::MissingLedger;
pub(crate) use takeover::take_over_at;
pub use takeover::{take_over, take_over_again};
