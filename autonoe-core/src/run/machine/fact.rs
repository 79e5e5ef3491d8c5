//! Inputs ([`RunFact`]), outputs ([`RunAction`]) and limits ([`RunLimits`]) of the run machine.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{Budget, SessionReport};
use crate::event::{Failure, InstructionName, WaitReason};
use crate::ledger::LedgerView;
use crate::run::{ExitReason, OnQuota, QuotaBackoff};
use crate::time::Mode;
use crate::time::millis;

/// An event that a [`RunMachine`](super::RunMachine) decides on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "fact",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum RunFact {
    /// The run starts.
    Started {
        /// The time of the start.
        at: Timestamp,
        /// The ledger at the start.
        ledger: LedgerView,
    },
    /// A session ended.
    SessionEnded {
        /// The time of its end.
        at: Timestamp,
        /// Its number.
        number: u32,
        /// The result of the session.
        result: SessionReport,
        /// The ledger after the session, or the error of reading it.
        ledger: Result<LedgerView, Failure>,
    },
    /// A wait is over. The machine ignores the fact before the end of the wait.
    WaitOver {
        /// The time of the fact.
        at: Timestamp,
        /// The ledger after the wait, or the error of reading it. Other writers may have changed
        /// it.
        ledger: Result<LedgerView, Failure>,
    },
    /// The operator cancels the run.
    Cancelled,
    /// The operator pauses the run before its next session.
    PauseRequested,
    /// The operator resumes the run.
    ResumeRequested {
        /// The time of the request.
        at: Timestamp,
        /// The ledger at that time, or the error of reading it. Other writers may have changed it.
        ledger: Result<LedgerView, Failure>,
    },
    /// The operator sends the agent a message, which becomes part of the next prompt.
    MessageQueued {
        /// The message.
        text: String,
    },
    /// The running session accepted the operator's message.
    MessageSteered {
        /// The message.
        text: String,
    },
    /// An instruction other than the planned one was selected for the session that is about to
    /// start. It must be applied before the session starts.
    InstructionSelected {
        /// The number of the session.
        number: u32,
        /// The selected instruction.
        instruction: InstructionName,
    },
    /// The running session was lost with its process.
    SessionLost {
        /// Its number.
        number: u32,
    },
    /// An interrupted run is resumed under other limits. Apply this fact before restarting the
    /// interrupted action: the machine answers with `Continue` or `Finish`. A running session
    /// counts as lost, so apply its end first if it is known.
    LimitsChanged {
        /// The time of the resumption.
        at: Timestamp,
        /// The new limits.
        limits: LimitOverrides,
        /// The ledger at the resumption.
        ledger: LedgerView,
    },
    /// The run cannot continue.
    Failed {
        /// The error.
        error: Failure,
    },
}

/// An action that a [`RunMachine`](super::RunMachine) requests from its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum RunAction {
    /// Continue the current action.
    Continue,
    /// Start a session; answer with `SessionEnded`.
    StartSession(SessionPlan),
    /// Stop the running session; answer with `SessionEnded`.
    StopSession,
    /// Wait; answer with `WaitOver`.
    Wait {
        /// The reason of the wait.
        reason: WaitReason,
        /// The end of the wait.
        until: Timestamp,
    },
    /// Do nothing until the operator resumes or cancels the run.
    Hold,
    /// End the run.
    Finish {
        /// The reason.
        exit: ExitReason,
    },
}

/// A session to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionPlan {
    /// Its number in the run, from 1.
    pub number: u32,
    /// The mode of the run.
    #[serde(default, skip_serializing_if = "Mode::is_run")]
    pub mode: Mode,
    /// The instruction for the agent.
    pub instruction: InstructionName,
    /// The operator's messages since the last session.
    #[serde(default)]
    pub messages: Vec<String>,
    /// The remaining budget at planning time. Its time shrinks until the session starts.
    #[serde(default)]
    pub budget: Budget,
    /// The end of the run's time budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl SessionPlan {
    /// Returns the remaining budget at `now`.
    pub fn budget_at(&self, now: Timestamp) -> Budget {
        self.budget.with_deadline(self.deadline, now)
    }
}

/// Overrides of a run's limits for one start. Limits that are `None` stay unchanged.
///
/// A new run starts with them. On a resumed run they replace the limits of its first start, and its
/// counts continue. A time limit counts from this start, because otherwise the time between the
/// interruption and the resumption would count. The mode of a run cannot be changed.
///
/// ```
/// use autonoe_core::run::{LimitOverrides, RunLimits};
/// use autonoe_core::Mode;
///
/// let started_with = RunLimits { max_iterations: Some(10), ..RunLimits::new(Mode::Run) };
/// let given = LimitOverrides { max_retries: Some(0), ..LimitOverrides::default() };
///
/// let limits = given.apply_to(&started_with);
///
/// assert_eq!((limits.max_iterations, limits.max_retries), (Some(10), 0));
/// assert!(given.changes(&started_with) && !given.changes(&limits));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitOverrides {
    /// Maximum number of iterations, including those before this start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Failed sessions in a row that the run tolerates. One more ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Sessions in a row without progress that end the run; 0 turns the limit off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_stalled_sessions: Option<u32>,
    /// The reaction to an exceeded quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_quota: Option<OnQuota>,
    /// The backoff that applies when the reset time of the quota is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_backoff: Option<QuotaBackoff>,
    /// The pause between two sessions.
    #[serde(
        rename = "pauseMs",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub pause: Option<Duration>,
    /// The budget: cost and tokens in total, time from this start.
    pub budget: Budget,
}

impl LimitOverrides {
    /// Returns `limits`, replaced by the limits that are set here.
    #[must_use]
    pub fn apply_to(&self, limits: &RunLimits) -> RunLimits {
        RunLimits {
            mode: limits.mode,
            max_iterations: self.max_iterations.or(limits.max_iterations),
            max_retries: self.max_retries.unwrap_or(limits.max_retries),
            max_stalled_sessions: self
                .max_stalled_sessions
                .unwrap_or(limits.max_stalled_sessions),
            on_quota: self.on_quota.unwrap_or(limits.on_quota),
            quota_backoff: self.quota_backoff.unwrap_or(limits.quota_backoff),
            pause: self.pause.unwrap_or(limits.pause),
            budget: Budget {
                cost_usd: self.budget.cost_usd.or(limits.budget.cost_usd),
                tokens: self.budget.tokens.or(limits.budget.tokens),
                time: self.budget.time.or(limits.budget.time),
            },
        }
    }

    /// Returns whether a run under `limits` gets other limits. A time limit always counts as a
    /// change, because its time starts again.
    pub fn changes(&self, limits: &RunLimits) -> bool {
        self.budget.time.is_some() || self.apply_to(limits) != *limits
    }

    /// Returns the fact for a machine under `limits`, or `None` if nothing changes.
    pub(crate) fn as_fact(
        &self,
        limits: &RunLimits,
        at: Timestamp,
        ledger: LedgerView,
    ) -> Option<RunFact> {
        self.changes(limits).then(|| RunFact::LimitsChanged {
            at,
            limits: self.clone(),
            ledger,
        })
    }
}

/// The limits of a run.
///
/// ```
/// use autonoe_core::run::RunLimits;
/// use autonoe_core::Mode;
///
/// let limits = RunLimits { max_iterations: Some(10), ..RunLimits::new(Mode::Run) };
///
/// assert_eq!(limits.max_retries, 3);
/// assert_eq!(limits.max_stalled_sessions, 5);
/// assert_eq!(limits.pause.as_secs(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunLimits {
    /// The mode of the run.
    pub mode: Mode,
    /// Maximum number of iterations; `None` is unlimited.
    pub max_iterations: Option<u32>,
    /// Failed sessions in a row that the run tolerates. One more ends it.
    pub max_retries: u32,
    /// Sessions in a row without progress that end the run; 0 turns the limit off.
    ///
    /// A session that failed or hit the quota neither counts nor resets the count, because other
    /// limits apply to it. [Unknown](crate::agent::SessionProgress::Unknown) progress counts as progress.
    pub max_stalled_sessions: u32,
    /// The reaction to an exceeded quota.
    pub on_quota: OnQuota,
    /// The backoff that applies when the reset time of the quota is unknown.
    pub quota_backoff: QuotaBackoff,
    /// The pause between two sessions.
    #[serde(rename = "pauseMs", with = "millis")]
    #[schemars(with = "u64")]
    pub pause: Duration,
    /// The total budget.
    pub budget: Budget,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self::new(Mode::Run)
    }
}

impl RunLimits {
    /// Returns the default limits.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            max_iterations: None,
            max_retries: 3,
            max_stalled_sessions: 5,
            on_quota: OnQuota::default(),
            quota_backoff: QuotaBackoff::default(),
            pause: Duration::from_secs(3),
            budget: Budget::default(),
        }
    }
}
