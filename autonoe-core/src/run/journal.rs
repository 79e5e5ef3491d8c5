//! What a run writes down while it runs.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RunAction, RunFact, RunLimits};
use crate::domain::{
    DeliverableId, Epoch, Failure, FlowReport, ForeignLedger, InstructionName, LedgerHash, Retry,
    RunId, RunReport, SessionResult, StatusChange,
};

/// Takes down what a run is told and decides, so that it can be resumed and explained.
///
/// An implementer owes:
/// - lines kept in the order in which they come, none twice;
/// - a line with [`Durability::Synced`] on disk when `append` returns: a crash
///   or a power cut does not undo it;
/// - an error when a line could not be kept. The run then ends, because it
///   could not be resumed correctly any more.
///
/// It is called from the task of the run and should be quick.
///
/// ```
/// use std::sync::Mutex;
///
/// use autonoe_core::{Durability, JournalError, JournalLine, RunId, RunJournal};
/// use jiff::Timestamp;
///
/// #[derive(Default)]
/// struct InMemory(Mutex<Vec<String>>);
///
/// impl RunJournal for InMemory {
///     fn append(
///         &self,
///         _run: &RunId,
///         _at: Timestamp,
///         line: &JournalLine,
///         _durability: Durability,
///     ) -> Result<(), JournalError> {
///         let text = serde_json::to_string(line).map_err(JournalError::new)?;
///         self.0.lock().expect("not poisoned").push(text);
///         Ok(())
///     }
/// }
/// ```
pub trait RunJournal: Send + Sync {
    /// Adds a line about `run`.
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError>;
}

#[deny(clippy::missing_trait_methods)]
impl<J: RunJournal + ?Sized> RunJournal for Arc<J> {
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        (**self).append(run, at, line, durability)
    }
}

/// How safe a line must be before the run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Handed to the operating system: survives a kill of the process.
    Written,
    /// On disk: survives a power cut.
    Synced,
}

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "line",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum JournalLine {
    /// A run began.
    RunStarted {
        /// Its limits.
        limits: RunLimits,
        /// Who writes.
        epoch: Epoch,
    },
    /// An interrupted run is resumed.
    RunResumed {
        /// Who writes now.
        epoch: Epoch,
    },
    /// The run machine was told a fact and decided.
    Fact {
        /// What it was told.
        #[schemars(with = "serde_json::Value")]
        fact: RunFact,
        /// What it decided.
        #[schemars(with = "serde_json::Value")]
        action: RunAction,
    },
    /// A deliverable was created or changed its status.
    StatusChanged {
        /// The session in which it did.
        session: u32,
        /// The change.
        change: StatusChange,
    },
    /// A deliverable was dropped by the specification.
    Deprecated {
        /// The session in which it was.
        session: u32,
        /// The deliverable.
        id: DeliverableId,
    },
    /// A deliverable was verified.
    Verified {
        /// The session in which it was.
        session: u32,
        /// The deliverable.
        id: DeliverableId,
    },
    /// The ledger is about to be saved. After a crash, it has one of the two hashes. They are equal
    /// in the line of a run that starts with a ledger of which the journal has no hash.
    LedgerSave {
        /// The hash of the ledger that is replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<LedgerHash>,
        /// The hash of the new one.
        to: LedgerHash,
    },
    /// Something other than the run changed the ledger, and the run restored it.
    LedgerRestored {
        /// The session in which it was found.
        session: u32,
        /// What was found, and where it is kept.
        #[serde(flatten)]
        foreign: ForeignLedger,
    },
    /// The ledger was edited between two runs, and this run accepted it.
    LedgerEdited {
        /// The hash that the journal recorded last.
        recorded: LedgerHash,
        /// The hash of the ledger that the run found.
        found: LedgerHash,
    },
    /// A tool call was denied.
    Denied {
        /// The session in which it was.
        session: u32,
        /// The tool.
        tool: String,
        /// What it would have touched: the command, the files or the address, shortened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// Who denied it.
        by: String,
        /// The reason, as the agent received it.
        reason: String,
        /// The setting with which the operator can allow the call, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// A run ended, also one that an engine elsewhere has driven: that one stands here as a flow.
    RunEnded {
        /// What it comes to.
        report: RunReport,
    },
    /// A flow began: a run whose sessions somebody else decides about.
    FlowStarted {
        /// Its name.
        flow: String,
        /// What tells versions of its definition apart.
        definition: String,
        /// What it was started with.
        parameters: Value,
        /// Who writes.
        epoch: Epoch,
    },
    /// An interrupted flow is resumed.
    FlowResumed {
        /// Who writes now.
        epoch: Epoch,
    },
    /// A flow took note of something, in its own words.
    FlowFact {
        /// What.
        fact: Value,
    },
    /// A session of a flow is about to begin.
    SessionStarted {
        /// Its number in the run.
        number: u32,
        /// What the agent is told to do, by name.
        instruction: InstructionName,
    },
    /// A session of a flow is over.
    SessionEnded {
        /// Its number in the run.
        number: u32,
        /// What is known of it.
        result: SessionResult,
    },
    /// A flow ended.
    FlowEnded {
        /// What it comes to.
        report: FlowReport,
        /// More of that, in its own words.
        result: Value,
    },
}

/// A line that could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("the journal cannot be written")]
pub struct JournalError {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl JournalError {
    /// Makes an error of what caused it.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl From<&JournalError> for Failure {
    fn from(error: &JournalError) -> Self {
        Failure::from_error("journal_unavailable", error, Retry::Useless)
    }
}

/// Keeps nothing: for runs that need not be resumed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl RunJournal for NoJournal {
    fn append(
        &self,
        _: &RunId,
        _: Timestamp,
        _: &JournalLine,
        _: Durability,
    ) -> Result<(), JournalError> {
        Ok(())
    }
}
