//! [`SessionHost`], which executes single sessions for a remote engine.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::RunProgress;
use crate::agent::{Budget, SessionReport};
use crate::event::{Failure, InstructionName};
use crate::ledger::LedgerView;
use crate::run::RunReport;
use crate::run::SessionPlan;
use crate::time::{Epoch, Mode, RunId, SessionKey};

/// Executes single sessions next to the project, for an engine that may call twice, late, or from
/// two places at once.
///
/// An implementation must guarantee:
/// - one outcome per key: once it is recorded, every call for that session returns it and nothing
///   runs, also after a kill and from another process;
/// - the record before the report: a returned outcome is on disk;
/// - fencing: an epoch lower than the highest seen is refused, and a higher one prevents all
///   earlier ones from changing the ledger and from recording an outcome;
/// - one end per run: once it is recorded, no session of that run starts any more, and recorded
///   sessions are still returned;
/// - heartbeats while it works or waits;
/// - a prompt end after `cancelled` is triggered, with everything that it started ended.
///
/// A session that started and left no record is run again under its number: it runs at least once,
/// but its effect on the ledger and its outcome count once. Dropping the future leaves the session
/// without a record. Cancelling it records its end as cancelled.
#[async_trait]
pub trait SessionHost: Send + Sync {
    /// Returns the epoch with which a run takes over from all earlier ones. Changes nothing.
    ///
    /// # Errors
    ///
    /// The stored state cannot be read, or there is no higher epoch.
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError>;

    /// Returns the counts of the ledger; empty counts if there was never one. Changes nothing.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read, it is missing although it had deliverables, or something other
    /// than `run` changed it since the last session of `run`.
    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure>;

    /// Returns the outcome of a session: the recorded one, or the outcome of running it now.
    ///
    /// If another session is running there, it waits for it.
    ///
    /// # Errors
    ///
    /// Another run has taken over, or the session has no recorded outcome: then it can be tried
    /// again.
    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError>;

    /// Records the end of the run of `report`, so that the project has no run that looks
    /// interrupted. Calling it twice records one end: the first one wins. A run without a record
    /// here needs no end, and then nothing changes.
    ///
    /// If another session is running there, it waits for it, but not for long: the engine already
    /// knows the end, and the end of a run should not be delayed by this.
    ///
    /// # Errors
    ///
    /// Another run has taken over, or the end could not be written.
    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError>;
}

#[async_trait]
impl<H: SessionHost + ?Sized> SessionHost for Arc<H> {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        (**self).claim(run).await
    }

    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure> {
        (**self).ledger_view(run).await
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        (**self)
            .attach_or_start(key, epoch, session, beat, cancelled)
            .await
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        (**self).conclude(epoch, report).await
    }
}

/// A serialisable description of one session.
///
/// ```
/// use autonoe_core::engine::HostedSession;
/// use autonoe_core::event::InstructionName;
///
/// let session = HostedSession::new(InstructionName::Coding).message("The tests come first.");
///
/// assert_eq!(serde_json::to_value(&session)?["instruction"], "coding");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct HostedSession {
    /// The mode of the run. A host for another mode refuses the session.
    #[serde(default, skip_serializing_if = "Mode::is_run")]
    pub mode: Mode,
    /// The name of the agent's instruction. The session has the deliverable tools of that
    /// instruction.
    pub instruction: InstructionName,
    /// The text of the instruction; by default the worker's text of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The operator's messages since the last session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The budget of the session.
    #[serde(default)]
    pub budget: Budget,
}

impl HostedSession {
    /// Creates a session of a run in [`Mode::Run`] for an instruction, without a limit.
    pub fn new(instruction: InstructionName) -> Self {
        Self {
            mode: Mode::Run,
            instruction,
            prompt: None,
            messages: Vec::new(),
            budget: Budget::default(),
        }
    }

    /// Sets the mode of the run; [`Mode::Run`] by default.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the text of the instruction.
    #[must_use]
    pub fn prompt(mut self, text: impl Into<String>) -> Self {
        self.prompt = Some(text.into());
        self
    }

    /// Adds a message for the agent.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.messages.push(message.into());
        self
    }

    /// Sets the budget.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
}

impl From<&SessionPlan> for HostedSession {
    /// Creates the session that a [`RunMachine`](crate::run::RunMachine) requests.
    fn from(plan: &SessionPlan) -> Self {
        Self {
            mode: plan.mode,
            instruction: plan.instruction.clone(),
            prompt: None,
            messages: plan.messages.clone(),
            budget: plan.budget,
        }
    }
}

/// The recorded outcome of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HostedOutcome {
    /// The end and the cost of the session.
    pub result: SessionReport,
    /// The ledger at the time of the report, or the reason why it is not that of the run.
    pub ledger: Result<LedgerView, Failure>,
    /// The number of earlier starts of this session without a record. Their cost is unknown.
    #[serde(default)]
    pub lost: u32,
}

impl HostedOutcome {
    /// Creates an outcome.
    pub fn new(result: SessionReport, ledger: Result<LedgerView, Failure>) -> Self {
        Self {
            result,
            ledger,
            lost: 0,
        }
    }

    /// Sets the number of earlier starts of this session without a record.
    #[must_use]
    pub fn lost(mut self, lost: u32) -> Self {
        self.lost = lost;
        self
    }
}

impl SessionHostError {
    /// Returns a function that turns failures of the session `key` into errors.
    #[cfg(feature = "project")]
    pub(crate) fn failed(key: &SessionKey) -> impl Fn(Failure) -> Self + Copy {
        move |failure| Self::Failed {
            key: key.clone(),
            failure,
        }
    }
}

/// The reason why there is no outcome of a session, or no end of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionHostError {
    /// A caller with a higher epoch has taken over.
    #[error("epoch {} has taken over from epoch {}", latest.0, requested.0)]
    Fenced {
        /// The epoch of the call.
        requested: Epoch,
        /// The highest epoch that was seen.
        latest: Epoch,
    },
    /// The session was cancelled before it started. Nothing was recorded.
    #[error("the session {0} was cancelled before it started")]
    Cancelled(SessionKey),
    /// The session did not start, or its end could not be recorded.
    #[error("the session {key} has no recorded end: {failure}")]
    Failed {
        /// The session.
        key: SessionKey,
        /// The cause.
        failure: Failure,
    },
}
