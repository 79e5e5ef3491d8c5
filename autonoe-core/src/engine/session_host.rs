//! What carries out single sessions on a worker, for an engine elsewhere.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::RunProgress;
use crate::domain::{
    Budget, Epoch, Failure, InstructionName, LedgerView, Mode, RunId, RunReport, SessionKey,
    SessionResult,
};
use crate::run::SessionPlan;

/// Carries out single sessions where the work is, for an engine that may call twice, late, or from
/// two places at once.
///
/// An implementer owes:
/// - one outcome for a key: once it is recorded, whoever asks for that session gets it and nothing
///   runs, also after a kill and from another process;
/// - the record before the report: an outcome that is told is on disk;
/// - no writing by who was overtaken: an epoch lower than the highest seen is refused, and a higher
///   one keeps all before it from changing the ledger and from recording an outcome;
/// - one end for a run: once it is written down, no session of that run begins any more, and those
///   that are recorded are still told;
/// - a beat now and then while it works or waits;
/// - an end soon after `cancelled`, with all that was started ended.
///
/// A session that began and left no record is run again under its number: it happens at least once,
/// what it does to the ledger and its outcome count once. Who drops the future leaves the session
/// without a record; who cancels it has its end recorded as cancelled.
#[async_trait]
pub trait SessionHost: Send + Sync {
    /// Returns the epoch with which a run takes over here from all before it. Nothing is changed.
    ///
    /// # Errors
    ///
    /// What is kept here cannot be read, or there is no higher epoch.
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError>;

    /// Returns the numbers of the ledger as it is; those of none if there has never been one. Nothing
    /// is changed.
    ///
    /// # Errors
    ///
    /// It cannot be read, it is missing although it had deliverables, or something other than `run`
    /// changed it since the last session of `run`.
    async fn look(&self, run: &RunId) -> Result<LedgerView, Failure>;

    /// Returns what a session came to: what was recorded, or else what comes of running it now.
    ///
    /// Where another one works, it is waited for.
    ///
    /// # Errors
    ///
    /// Another has taken over, or the session has no recorded outcome: then it can be tried again.
    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError>;

    /// Writes down how the run of `report` ended, so that who looks there finds no run that broke
    /// off. Told twice, it is written once: the first one stands. A run of which nothing is written
    /// down here needs no end, and then nothing is changed.
    ///
    /// Where another one works, it is waited for, but not for long: the engine knows the end
    /// already, and nobody should wait for that of a run because of this.
    ///
    /// # Errors
    ///
    /// Another has taken over, or the end could not be written.
    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError>;
}

#[async_trait]
impl<H: SessionHost + ?Sized> SessionHost for Arc<H> {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        (**self).claim(run).await
    }

    async fn look(&self, run: &RunId) -> Result<LedgerView, Failure> {
        (**self).look(run).await
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

/// One session, as data that can travel.
///
/// ```
/// use autonoe_core::{HostedSession, InstructionName};
///
/// let session = HostedSession::new(InstructionName::Coding).told("The tests come first.");
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
    /// What the agent is told to do, by name. It has the deliverable tools of that instruction.
    pub instruction: InstructionName,
    /// The text of it; by default the one that the worker has under that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What persons have told the run since the last session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// What it may spend.
    #[serde(default)]
    pub budget: Budget,
}

impl HostedSession {
    /// Makes a session of a run in [`Mode::Run`] on an instruction, without a limit.
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

    /// Gives the text of the instruction.
    #[must_use]
    pub fn prompt(mut self, text: impl Into<String>) -> Self {
        self.prompt = Some(text.into());
        self
    }

    /// Tells the agent something beside it.
    #[must_use]
    pub fn told(mut self, message: impl Into<String>) -> Self {
        self.messages.push(message.into());
        self
    }

    /// Limits what it may spend.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
}

impl From<&SessionPlan> for HostedSession {
    /// Makes the session that a [`RunMachine`](crate::RunMachine) asks for.
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

/// What a session came to, as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HostedOutcome {
    /// How it ended and what it cost.
    pub result: SessionResult,
    /// The ledger as it is when this is told, or why it is not that of the run.
    pub ledger: Result<LedgerView, Failure>,
    /// How often it had begun here before and left no record. What that cost nobody knows.
    #[serde(default)]
    pub lost: u32,
}

impl HostedOutcome {
    /// Puts together what a session came to.
    pub fn new(result: SessionResult, ledger: Result<LedgerView, Failure>) -> Self {
        Self {
            result,
            ledger,
            lost: 0,
        }
    }

    /// Says how often the session had begun before without a record.
    #[must_use]
    pub fn after_losses(mut self, lost: u32) -> Self {
        self.lost = lost;
        self
    }
}

/// Why there is no outcome of a session, or no end of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionHostError {
    /// Somebody with a higher epoch has taken over.
    #[error("epoch {} has taken over from epoch {}", latest.0, asked.0)]
    Fenced {
        /// The epoch of who asked.
        asked: Epoch,
        /// The highest that was seen.
        latest: Epoch,
    },
    /// It was cancelled before it began. Nothing was recorded.
    #[error("the session {0} was cancelled before it began")]
    Cancelled(SessionKey),
    /// It did not begin, or its end could not be recorded.
    #[error("the session {key} has no recorded end: {failure}")]
    Failed {
        /// The session.
        key: SessionKey,
        /// Why.
        failure: Failure,
    },
}
