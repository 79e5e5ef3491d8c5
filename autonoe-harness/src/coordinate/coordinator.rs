//! Coordinator: runs the members of a fleet as its strategy decides, and reports on them.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::{Engine, EngineError, JobContext, RunOutcome};
use autonoe_core::event::{Failure, InvalidValue};
use autonoe_core::time::{Clock, SystemClock};
use autonoe_core::{RunControl, RunId};
use serde::{Deserialize, Serialize};

use super::driver::Driver;
use super::{FleetMachine, FleetObserver, MemberSpec, StrategyRun};
use crate::budget::{Account, Allowance};
use crate::isolation::WorkLocation;
use crate::strategy::{AggregatedReport, IntoStrategy, MemberId, spent_by};

/// Runs a fleet under a [`Strategy`](crate::strategy::Strategy): each member is a run on an
/// [`Engine`].
///
/// - At most [`max_concurrent`](Self::max_concurrent) members run at once. A member starts only if
///   its allowance can be reserved.
/// - A member that exceeds its time is cancelled and counts as failed.
/// - When [`run`](Self::run) returns its report, all members have ended, including those that lost.
/// - Runs are named after the fleet and the member. After a crash, another coordinator with the
///   same fleet, members and budget finds the existing runs, starts none of them twice, and
///   continues. Dropping the future of [`run`](Self::run) leaves the runs running.
///
/// ```
/// use autonoe_core::engine::LocalEngine;
/// use autonoe_core::RunControl;
/// use autonoe_harness::coordinate::MemberSpec;
/// use autonoe_harness::strategy::MemberId;
/// use autonoe_harness::{Coordinator, Race};
/// # use autonoe_core::engine::{JobRunner, JobContext, RunOutcome, RunSpec};
/// # use autonoe_harness::coordinate::MemberJob;
/// # struct Says;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Says {
/// #     async fn run(&self, run: &RunSpec, _: &JobContext) -> RunOutcome {
/// #         RunOutcome::succeeded(MemberJob::from_run(run).expect("a member").work)
/// #     }
/// # }
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let engine = LocalEngine::new(Says);
/// let member = |name: &str| MemberSpec::new(MemberId::new(name), "say", json!("done"));
///
/// let report = Coordinator::new("login-page", engine, Race {})
///     .members([member("claude"), member("codex")])
///     .run(&RunControl::new())
///     .await?;
///
/// assert!(report.result.success);
/// assert_eq!(report.result.aggregated_output.as_deref(), Some("done"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a coordinator does nothing before `run`"]
pub struct Coordinator {
    pub(super) fleet: String,
    pub(super) engine: Arc<dyn Engine>,
    strategy_run: StrategyRun,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) observers: Vec<Arc<dyn FleetObserver>>,
    pub(super) ended_before: Vec<MemberId>,
}

impl Coordinator {
    /// Creates a coordinator of the fleet `name`, which may contain letters, digits, `-` and `_`.
    pub fn new(
        name: impl Into<String>,
        engine: impl Engine + 'static,
        strategy: impl IntoStrategy,
    ) -> Self {
        Self::from_strategy_run(name, engine, StrategyRun::new(strategy))
    }

    /// Creates a coordinator of the fleet `name` from a [`StrategyRun`].
    pub fn from_strategy_run(
        name: impl Into<String>,
        engine: impl Engine + 'static,
        strategy_run: StrategyRun,
    ) -> Self {
        Self {
            fleet: name.into(),
            engine: Arc::new(engine),
            strategy_run,
            clock: Arc::new(SystemClock),
            observers: Vec::new(),
            ended_before: Vec::new(),
        }
    }

    /// Adds members. A member whose name is already present is ignored.
    pub fn members(mut self, members: impl IntoIterator<Item = MemberSpec>) -> Self {
        self.strategy_run = self.strategy_run.members(members);
        self
    }

    /// Sets the maximum number of members that run at once; 10 by default.
    pub fn max_concurrent(mut self, members: NonZeroUsize) -> Self {
        self.strategy_run.max_concurrent = members;
        self
    }

    /// Sets the time limit of the fleet; an hour by default. Members that still run then are
    /// stopped.
    ///
    /// The time counts from the start of this coordinator. A coordinator that resumes the fleet has
    /// the full time again.
    pub fn time(mut self, time: Duration) -> Self {
        self.strategy_run.time = time;
        self
    }

    /// Sets how long a stopped member may take to end; two minutes by default. After that it is
    /// left behind, and the report names it.
    pub fn stop_timeout(mut self, patience: Duration) -> Self {
        self.strategy_run.stop_timeout = patience;
        self
    }

    /// Sets the budget of the fleet; unlimited by default.
    pub fn budget(mut self, allowance: Allowance) -> Self {
        self.strategy_run.budget = allowance;
        self
    }

    /// Sets the clock; the system clock by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Adds an observer of fleet events.
    pub fn observer(mut self, observer: impl FleetObserver + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Sets the order in which members ended under an earlier coordinator, as far as it is known:
    /// an engine does not report the order. Other ended members follow in the order of the members.
    pub fn ended_before(mut self, members: impl IntoIterator<Item = MemberId>) -> Self {
        self.ended_before = members.into_iter().collect();
        self
    }

    /// Returns the run ID of a member.
    pub fn run_id(&self, member: &MemberId) -> RunId {
        RunId::new(format!("{}.{member}", self.fleet))
    }

    /// Runs the strategy until it finishes or `control` is cancelled, and returns the report.
    ///
    /// While `control` is paused, no member starts, running members are asked to pause, and no time
    /// counts. Messages sent through `control` are forwarded to the running members.
    ///
    /// # Errors
    ///
    /// The fleet could not start: its name is invalid, its time limit is zero, or the engine does
    /// not report which runs exist.
    pub async fn run(&self, control: &RunControl) -> Result<FleetReport, CoordinationError> {
        self.drive(control, None).await
    }

    /// Runs the fleet, and reports its progress to `context`.
    pub(super) async fn drive(
        &self,
        control: &RunControl,
        context: Option<&JobContext>,
    ) -> Result<FleetReport, CoordinationError> {
        InvalidValue::check_time("time(0)", self.strategy_run.time)?;
        let (name, what) = (self.fleet.clone(), self.strategy_run.clone());
        let machine = FleetMachine::new(name, what, self.clock.now())?;
        Driver::new(self, machine, context).run(control).await
    }
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coordinator")
            .field("fleet", &self.fleet)
            .field("strategy", &self.strategy_run.strategy)
            .field("members", &self.strategy_run.members.len())
            .finish_non_exhaustive()
    }
}

/// Outcome of a fleet: the results of its members, and the state of their work.
///
/// A coordinator decides about members only. `FleetRun` merges the work of a winner, and adds
/// `stopped`, `merged`, `not_merged` and `kept`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetReport {
    /// The results of the members, individually and aggregated.
    pub result: AggregatedReport,
    /// The reason why the fleet ended before its strategy had finished. Set only for a fleet that
    /// did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShort>,
    /// The account of the fleet. Its members are settled.
    pub account: Account,
    /// Members that were stopped and did not end in time: they may still be running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<MemberId>,
    /// The reason of a stop request, as given by the requester.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The commit of the base that has the work of the winner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// The reason why the work of the winner is not in the base. Then the fleet has not succeeded,
    /// and the work of all members is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_merged: Option<String>,
    /// The locations of work that was not merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<WorkLocation>,
}

impl FleetReport {
    /// Returns the outcome of a run of this fleet. Its output is the report.
    pub fn outcome(&self) -> RunOutcome {
        let outcome = match &self.cut_short {
            _ if self.result.success => RunOutcome::succeeded(serde_json::Value::Null),
            Some(reason @ CutShort::Cancelled) => RunOutcome::cancelled(reason.to_string()),
            Some(reason) => RunOutcome::failed(Failure::permanent("cut_short", reason.to_string())),
            None => {
                let why = "the members did not reach the goal of the fleet";
                RunOutcome::failed(Failure::permanent("strategy_failed", why))
            }
        };
        // A report always serialises. If it ever does not, the outcome is still correct.
        let output = serde_json::to_value(self).unwrap_or_default();
        outcome
            .with_output(output)
            .with_spent(spent_by(&self.result.results))
    }
}

/// Reason why a fleet ended before its strategy had finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "camelCase")]
#[non_exhaustive]
pub enum CutShort {
    /// The fleet was cancelled.
    #[error("the fleet was cancelled")]
    Cancelled,
    /// The time limit of the fleet has passed.
    #[error("the fleet reached its time limit")]
    TimedOut,
    /// A member cannot be paid, and no running member could return budget.
    #[error("cannot start the member {member}: {why}")]
    InsufficientBudget {
        /// The member.
        member: MemberId,
        /// The missing budget, for people.
        why: String,
    },
    /// The strategy neither starts a member nor finishes.
    #[error("the strategy makes no progress: it neither starts a member nor finishes")]
    StrategyStalled,
}

/// Error of a coordinator. Started runs keep running, and the next coordinator of the fleet finds
/// them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinationError {
    /// The name cannot be part of run IDs.
    #[error("{0:?} is not a valid fleet name: use letters, digits, `-` and `_`")]
    FleetName(String),
    /// A value that no fleet can work with.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// The engine call failed.
    #[error("cannot look up the run {run}")]
    Engine {
        /// The run that was queried.
        run: RunId,
        /// The error of the engine.
        source: EngineError,
    },
}
