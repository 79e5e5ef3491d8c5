//! The executor of strategies.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Clock, Engine, InvalidValue, RunControl, RunDesk, RunId, SystemClock};

use super::driving::Driving;
use super::{CoordinationError, FleetCourse, FleetObserver, FleetReport, MemberSpec, StrategyRun};
use crate::{Accounts, Allowance, HarnessId, IntoStrategy};

/// Carries out a [`Strategy`](crate::Strategy) over a fleet: each member is a run on an [`Engine`].
///
/// - No more members work at once than [`max_concurrent`](Self::max_concurrent) says, and none
///   starts whose allowance cannot be reserved.
/// - A member whose time is up is cancelled and has failed.
/// - When it gives back its report, members have ended: those that lost, too.
/// - Runs are named by the fleet and the member. A coordinator that was killed is followed by
///   another one of the same fleet, members and budget: it finds its runs again, starts none of
///   them twice, and goes on. Who drops the future of [`run`](Self::run) leaves the runs at work.
///
/// ```
/// use autonoe_core::{LocalEngine, RunControl};
/// use autonoe_harness::{Coordinator, HarnessId, MemberSpec, Race};
/// # use autonoe_core::{JobRunner, RunDesk, RunOutcome, RunSpec};
/// # use autonoe_harness::MemberJob;
/// # struct Says;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Says {
/// #     async fn run(&self, run: &RunSpec, _: &RunDesk) -> RunOutcome {
/// #         RunOutcome::succeeded(MemberJob::of(run).expect("a member").work)
/// #     }
/// # }
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let engine = LocalEngine::new(Says);
/// let member = |name: &str| MemberSpec::new(HarnessId::new(name), "say", json!("done"));
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
#[must_use = "nothing is started before `run`"]
pub struct Coordinator {
    pub(super) fleet: String,
    pub(super) engine: Arc<dyn Engine>,
    what: StrategyRun,
    /// The accounts that somebody else has, and which of them pays.
    paid_from: Option<(Accounts, String)>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) observers: Vec<Arc<dyn FleetObserver>>,
    pub(super) ended_before: Vec<HarnessId>,
}

impl Coordinator {
    /// Makes the coordinator of the fleet `name`, which has letters, digits, `-` and `_`.
    pub fn new(
        name: impl Into<String>,
        engine: impl Engine + 'static,
        strategy: impl IntoStrategy,
    ) -> Self {
        Self::of(name, engine, StrategyRun::new(strategy))
    }

    /// Makes the coordinator of the fleet `name`, which is there as data.
    pub fn of(name: impl Into<String>, engine: impl Engine + 'static, what: StrategyRun) -> Self {
        Self {
            fleet: name.into(),
            engine: Arc::new(engine),
            what,
            paid_from: None,
            clock: Arc::new(SystemClock),
            observers: Vec::new(),
            ended_before: Vec::new(),
        }
    }

    /// Adds members. One whose name is there is left out.
    pub fn members(mut self, members: impl IntoIterator<Item = MemberSpec>) -> Self {
        self.what = self.what.members(members);
        self
    }

    /// Sets how many members work at once at most; 10 by default.
    pub fn max_concurrent(mut self, members: NonZeroUsize) -> Self {
        self.what.max_concurrent = members;
        self
    }

    /// Sets how long the fleet may take; an hour by default. Then members are stopped.
    ///
    /// It counts from the start of this coordinator; one that follows another has as long again.
    pub fn time(mut self, time: Duration) -> Self {
        self.what.time = time;
        self
    }

    /// Sets how long a member that is told to stop may take to end; two minutes by default. Then it
    /// is left behind, and the report names it.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.what.patience = patience;
        self
    }

    /// Sets what the fleet may spend; there is no limit by default.
    pub fn budget(mut self, allowance: Allowance) -> Self {
        self.what.budget = allowance;
        self.paid_from = None;
        self
    }

    /// Pays members from one of `accounts`, which the report gives back.
    ///
    /// One that follows a coordinator that was killed is given them as they were at the start: what
    /// its runs have spent is counted again.
    pub fn paid_from(mut self, accounts: Accounts, account: impl Into<String>) -> Self {
        self.paid_from = Some((accounts, account.into()));
        self
    }

    /// Sets the clock; the machine's by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Adds somebody who is told what happens.
    pub fn observer(mut self, observer: impl FleetObserver + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Says in which order members ended under a coordinator before this one, as far as somebody
    /// knows: an engine does not tell who was first. The others follow in the order of the members.
    pub fn ended_before(mut self, members: impl IntoIterator<Item = HarnessId>) -> Self {
        self.ended_before = members.into_iter().collect();
        self
    }

    /// Returns the run of a member.
    pub fn run_of(&self, member: &HarnessId) -> RunId {
        RunId::new(format!("{}.{member}", self.fleet))
    }

    /// Carries out the strategy to its end, or until `control` is cancelled, and reports.
    ///
    /// While `control` is paused, nobody is started, members at work are told to hold, and no time
    /// counts. What is said there is told to the members at work.
    ///
    /// # Errors
    ///
    /// The fleet could not begin: its name or account cannot be used, it has no time, or the engine
    /// does not say which runs there are.
    pub async fn run(&self, control: &RunControl) -> Result<FleetReport, CoordinationError> {
        Driving::new(self, self.course()?).run(control).await
    }

    /// Does the same at a desk, which is told how far the fleet is.
    pub(super) async fn run_at(&self, desk: &RunDesk) -> Result<FleetReport, CoordinationError> {
        let driving = Driving::new(self, self.course()?);
        driving.reporting_to(desk).run(desk.control()).await
    }

    fn course(&self) -> Result<FleetCourse, CoordinationError> {
        InvalidValue::check_time("time(0)", self.what.time)?;
        let (name, what, now) = (self.fleet.clone(), self.what.clone(), self.clock.now());
        match self.paid_from.clone() {
            None => FleetCourse::new(name, what, now),
            Some((accounts, account)) => FleetCourse::paid_from(accounts, account, name, what, now),
        }
    }
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coordinator")
            .field("fleet", &self.fleet)
            .field("strategy", &self.what.strategy)
            .field("members", &self.what.members.len())
            .finish_non_exhaustive()
    }
}
