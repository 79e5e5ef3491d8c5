//! [`Coordinator`]: settings of a fleet whose members run as its strategy decides.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::Engine;
use autonoe_core::time::{Clock, SystemClock};

use super::{FleetObserver, MemberSpec, StrategyRun};
use crate::budget::Allowance;
use crate::strategy::{IntoStrategy, MemberId};

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
/// assert!(report.success);
/// assert_eq!(report.aggregated_output.as_deref(), Some("done"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a coordinator does nothing before `run`"]
pub struct Coordinator {
    pub(super) fleet: String,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) strategy_run: StrategyRun,
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
    pub fn stop_timeout(mut self, stop_timeout: Duration) -> Self {
        self.strategy_run.stop_timeout = stop_timeout;
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
