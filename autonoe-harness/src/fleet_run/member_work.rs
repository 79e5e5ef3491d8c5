//! What the process of a member does.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    Clock, Failure, JobRunner, RunDesk, RunEnding, RunOutcome, RunSpec, SystemClock, create_folder,
};
use autonoe_process::Commands;

use super::FleetHome;
use super::member_record::MemberRecord;
use super::order::MemberOrder;
use super::run::Workshop;
use crate::{
    AlertManager, Allowance, Author, Executors, HarnessFolder, HarnessId, Isolation, MemberJob,
    SnapshotLimits, TaskLoop, Worktrees,
};

/// Does the work of a member of a [`FleetRun`](super::FleetRun): a [`TaskLoop`] whose tasks are
/// claimed, logged and taken up again after a crash, each once.
///
/// In the folder of the member are its journal (`work.jsonl`), its state (`state.db`), its alerts, and
/// its conversations until it ends.
/// A member that ended tells so in what all share, and what it said is an artifact there, `ID.md`.
///
/// It is what the process of a sub-harness serves its folder with:
///
/// ```no_run
/// use std::sync::Arc;
///
/// use autonoe_harness::{Executors, FleetHome, HarnessFolder, MemberWork, Serving};
/// use autonoe_process::Commands;
///
/// # async fn example(executors: Executors) -> Result<(), Box<dyn std::error::Error>> {
/// let folder = HarnessFolder::at("/home/ada/shop/.harness/login.parser".as_ref())?;
/// let git = Commands::unconfined("/").env("PATH", "/usr/bin:/bin");
///
/// let work = MemberWork::new(FleetHome::around(&folder)?, move |_folder| executors.clone());
/// Serving::new(folder, Arc::new(work.git(git))).run().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemberWork {
    home: FleetHome,
    workshop: Workshop,
    clock: Arc<dyn Clock>,
    git: Option<Commands>,
    author: Author,
    limits: SnapshotLimits,
    alerts: Arc<dyn Fn(AlertManager) -> AlertManager + Send + Sync>,
}

impl MemberWork {
    /// Does work in the project of `home` with the executors that `workshop` makes for a folder:
    /// that of the project, or a worktree.
    pub fn new(
        home: FleetHome,
        workshop: impl Fn(&Path) -> Executors + Send + Sync + 'static,
    ) -> Self {
        Self {
            home,
            workshop: Arc::new(workshop),
            clock: Arc::new(SystemClock),
            git: None,
            author: Author::default(),
            limits: SnapshotLimits::default(),
            alerts: Arc::new(|alerts| alerts),
        }
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Says how git is run for worktrees. Without that, orders that ask for one fail.
    #[must_use]
    pub fn git(mut self, commands: Commands) -> Self {
        self.git = Some(commands);
        self
    }

    /// Says in whose name work is committed.
    #[must_use]
    pub fn author(mut self, author: Author) -> Self {
        self.author = author;
        self
    }

    /// Sets how much of the folder is looked at, and how many changed lines are a lot.
    #[must_use]
    pub fn snapshots(mut self, limits: SnapshotLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Changes the alerts of members, for example adds a sink.
    #[must_use]
    pub fn alerts(
        mut self,
        change: impl Fn(AlertManager) -> AlertManager + Send + Sync + 'static,
    ) -> Self {
        self.alerts = Arc::new(change);
        self
    }

    async fn work(&self, run: &RunSpec, desk: &RunDesk) -> Result<RunOutcome, Failure> {
        let wrong = |message: String| Failure::permanent("work_order", message);
        let job = MemberJob::of(run).map_err(|error| wrong(error.to_string()))?;
        let order = serde_json::from_value(job.work.clone());
        let mut order: MemberOrder = order.map_err(|error| wrong(error.to_string()))?;
        order.work.input = job.given.or(order.work.input);
        order.work.allowance = least(order.work.allowance, job.allowance);
        let folder = self.folder(run)?;
        let alerts = self.alerts_of(&folder, &order);
        let (home, clock) = (self.home.clone(), self.clock.clone());
        let record = MemberRecord::open(home, folder.clone(), &order, clock, alerts).await?;
        let record = Arc::new(record);
        let workshop = self.workshop.clone();
        let mut work = TaskLoop::new(self.home.project(), move |folder| workshop(folder))
            .clock(self.clock.clone())
            .author(self.author.clone())
            .snapshots(self.limits)
            .conversations(folder.conversations())
            .observed_by(record.clone());
        if let Some(worktrees) = self.worktrees(run, &order).await? {
            work = work.isolated_in(worktrees);
        }
        let input = serde_json::to_value(&order.work).map_err(|error| wrong(error.to_string()))?;
        let run = RunSpec::new(run.id.clone(), run.job.clone(), input);
        let outcome = work.run(&run, desk).await;
        let stop = folder.stop_requested().ok().flatten();
        let is_left_for_later =
            matches!(outcome.ending, RunEnding::Cancelled { .. }) && stop.is_none();
        if !is_left_for_later {
            record.share(&outcome).await;
            folder.remove_conversations();
        }
        record.flush().await;
        Ok(outcome)
    }

    fn folder(&self, run: &RunSpec) -> Result<HarnessFolder, Failure> {
        let failed = |message: String| Failure::permanent("member_folder", message);
        let id = HarnessId::new(run.id.as_str());
        let folder = HarnessFolder::of(self.home.path(), &id);
        let folder = folder.map_err(|error| failed(error.to_string()))?;
        self.home
            .prepare()
            .map_err(|error| failed(error.to_string()))?;
        // It is there already, unless this is a task of an engine without folders.
        let made = create_folder(folder.path());
        made.map_err(|error| failed(format!("{:?}: {error}", folder.path())))?;
        Ok(folder)
    }

    /// Makes the alerts of a member.
    fn alerts_of(&self, folder: &HarnessFolder, order: &MemberOrder) -> AlertManager {
        let alerts = AlertManager::new(folder.alert_log().path());
        let alerts = (self.alerts)(alerts.with_log_of_all(self.home.alerts_of_all()));
        match order.pause_on_critical {
            true => alerts.pausing_on_critical(folder),
            false => alerts,
        }
    }

    async fn worktrees(
        &self,
        run: &RunSpec,
        order: &MemberOrder,
    ) -> Result<Option<Worktrees>, Failure> {
        let (Isolation::Worktree { .. }, Some(git)) = (&order.work.isolation, &self.git) else {
            return Ok(None);
        };
        let fleet = run.id.as_str().split('.').next().unwrap_or_default();
        let worktrees = self.home.worktrees(fleet, git.clone()).await;
        let failed =
            |error: crate::IsolationError| Failure::permanent("not_isolated", error.to_string());
        worktrees.map(Some).map_err(failed)
    }
}

#[async_trait]
impl JobRunner for MemberWork {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let outcome = self.work(run, desk).await;
        outcome.unwrap_or_else(RunOutcome::failed)
    }
}

/// Returns what both allow.
fn least(one: Allowance, other: Allowance) -> Allowance {
    let mut amounts = one.amounts();
    for (amount, other) in amounts.iter_mut().zip(other.amounts()) {
        *amount = [*amount, other].into_iter().flatten().min();
    }
    Allowance::of_amounts(amounts)
}

impl fmt::Debug for MemberWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberWork")
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}
