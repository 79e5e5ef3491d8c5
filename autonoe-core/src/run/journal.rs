//! [`RunJournal`], the append-only journal of a run, and its lines.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RunAction, RunFact, RunLimits};
use crate::agent::SessionReport;
use crate::event::{Failure, InstructionName, Retry};
use crate::ledger::{DeliverableId, ForeignLedger, LedgerHash, StatusChange};
use crate::run::{FlowReport, RunReport};
use crate::time::{Epoch, RunId};

/// Records the facts and decisions of a run, so that it can be resumed and explained.
///
/// An implementation must:
/// - keep lines in the order of the calls, each once;
/// - have a line with [`Durability::Synced`] on disk when `append` returns, so that a crash or a
///   power cut does not undo it;
/// - return an error if it could not keep a line. The run then ends, because it could no longer be
///   resumed correctly.
///
/// `append` is called from the task of the run and should return quickly.
///
/// ```
/// use std::sync::Mutex;
///
/// use autonoe_core::run::{Durability, JournalError, JournalLine, RunJournal};
/// use autonoe_core::RunId;
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
    /// Appends a line about `run`.
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

/// The durability that a line must reach before the run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Passed to the operating system: survives a kill of the process.
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
    /// A run started.
    RunStarted {
        /// Its limits.
        limits: RunLimits,
        /// The epoch of the writer.
        epoch: Epoch,
    },
    /// An interrupted run is resumed.
    RunResumed {
        /// The epoch of the new writer.
        epoch: Epoch,
    },
    /// The run machine received a fact and decided.
    Fact {
        /// The fact.
        #[schemars(with = "serde_json::Value")]
        fact: RunFact,
        /// The decision.
        #[schemars(with = "serde_json::Value")]
        action: RunAction,
    },
    /// A deliverable was created or changed its status.
    StatusChanged {
        /// The session of the change.
        session: u32,
        /// The change.
        change: StatusChange,
    },
    /// The specification no longer contains a deliverable.
    Deprecated {
        /// The session of the deprecation.
        session: u32,
        /// The deliverable.
        id: DeliverableId,
    },
    /// A deliverable was verified.
    Verified {
        /// The session of the verification.
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
        /// The session in which the change was found.
        session: u32,
        /// The foreign content, and the place where it was saved.
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
        /// The session of the call.
        session: u32,
        /// The tool.
        tool: String,
        /// The target of the call: the command, the files or the address, shortened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// The guard or hook that denied the call; `grants` if nothing granted it.
        by: String,
        /// The reason, as the agent received it.
        reason: String,
        /// The setting with which the operator can allow the call, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
    /// A run ended. The run of a remote engine also ends with this line, although it is recorded as
    /// a flow.
    RunEnded {
        /// The report of the run.
        report: RunReport,
    },
    /// A flow started: a run whose caller decides which session comes next.
    FlowStarted {
        /// Its name.
        flow: String,
        /// Identifies the version of the flow's definition.
        definition: String,
        /// The parameters that the flow started with.
        parameters: Value,
        /// The epoch of the writer.
        epoch: Epoch,
    },
    /// An interrupted flow is resumed.
    FlowResumed {
        /// The epoch of the new writer.
        epoch: Epoch,
    },
    /// A flow recorded a fact in its own format.
    FlowFact {
        /// The fact.
        fact: Value,
    },
    /// A session of a flow is about to start.
    SessionStarted {
        /// Its number in the run.
        number: u32,
        /// The name of the agent's instruction.
        instruction: InstructionName,
    },
    /// A session of a flow ended.
    SessionEnded {
        /// Its number in the run.
        number: u32,
        /// The result of the session.
        result: SessionReport,
    },
    /// A flow ended.
    FlowEnded {
        /// The report of the flow.
        report: FlowReport,
        /// The result of the flow in its own format.
        result: Value,
    },
}

/// A line that could not be recorded.
#[derive(Debug, thiserror::Error)]
#[error("the journal cannot be written")]
pub struct JournalError {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl JournalError {
    /// Creates an error from its cause.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl From<&JournalError> for Failure {
    fn from(error: &JournalError) -> Self {
        Failure::from_error("journal_unavailable", error, Retry::Permanent)
    }
}

/// Discards all lines: for runs that need not be resumed.
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
