//! Job runner for the work of a fleet member.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::engine::{JobContext, JobRunner, RunEnding, RunOutcome, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::project::create_folder;
use autonoe_core::time::Clock;
use autonoe_process::ProcessRunner;

use super::FleetHome;
use super::member_recorder::MemberRecorder;
use crate::alert::AlertManager;
use crate::budget::Allowance;
use crate::coordinate::MemberJob;
use crate::executor::Executors;
use crate::folder::MemberFolder;
use crate::isolation::{Author, Worktrees};
use crate::progress::SnapshotLimits;
use crate::strategy::MemberId;
use crate::work::{Isolation, TaskLoop, WorkOrder, invalid_order};

/// Executes the work of a member of a [`FleetRun`](super::FleetRun): a [`TaskLoop`] whose tasks are
/// recorded in a journal and resumed after a crash. Finished work is not repeated.
///
/// The folder of the member contains its journal (`work.jsonl`), its state (`state.db`), its
/// alerts, and its conversations until it ends. When a member ends, it publishes an event and its
/// output in the shared context; the output is the artifact `ID.md`.
///
/// The process of a member serves its folder with this runner:
///
/// ```no_run
/// use std::sync::Arc;
///
/// use autonoe_harness::folder::MemberFolder;
/// use autonoe_harness::{Executors, FleetHome, MemberWork, MemberServer};
/// use autonoe_process::ProcessRunner;
///
/// # async fn example(executors: Executors) -> Result<(), Box<dyn std::error::Error>> {
/// let folder = MemberFolder::from_path("/home/ada/shop/.harness/login.parser".as_ref())?;
/// let git = ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin");
///
/// let work = MemberWork::new(FleetHome::from_member_folder(&folder)?, move |_folder| executors.clone());
/// MemberServer::new(folder, Arc::new(work.git(git))).run().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemberWork {
    home: FleetHome,
    task_loop: TaskLoop,
    git: Option<ProcessRunner>,
    alerts: Arc<dyn Fn(AlertManager) -> AlertManager + Send + Sync>,
}

impl MemberWork {
    /// Creates a runner for the project of `home`. `executor_factory` builds the executors for a folder:
    /// that of the project, or a worktree.
    pub fn new(
        home: FleetHome,
        executor_factory: impl Fn(&Path) -> Executors + Send + Sync + 'static,
    ) -> Self {
        Self {
            task_loop: TaskLoop::new(home.project(), executor_factory),
            home,
            git: None,
            alerts: Arc::new(|alerts| alerts),
        }
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.task_loop = self.task_loop.clock(clock);
        self
    }

    /// Sets how git is run for worktrees. Without it, orders that require a worktree fail.
    #[must_use]
    pub fn git(mut self, commands: ProcessRunner) -> Self {
        self.git = Some(commands);
        self
    }

    /// Sets the author of commits.
    #[must_use]
    pub fn author(mut self, author: Author) -> Self {
        self.task_loop = self.task_loop.author(author);
        self
    }

    /// Sets the limits of workspace snapshots, and how many changed lines count as full progress.
    #[must_use]
    pub fn snapshots(mut self, limits: SnapshotLimits) -> Self {
        self.task_loop = self.task_loop.snapshots(limits);
        self
    }

    /// Customises the alert manager of members, for example to add a sink.
    #[must_use]
    pub fn alerts(
        mut self,
        change: impl Fn(AlertManager) -> AlertManager + Send + Sync + 'static,
    ) -> Self {
        self.alerts = Arc::new(change);
        self
    }

    async fn work(&self, run: &RunSpec, context: &JobContext) -> Result<RunOutcome, Failure> {
        let invalid = |error: serde_json::Error| invalid_order(error.to_string());
        let job = MemberJob::from_run(run).map_err(invalid)?;
        let mut order: WorkOrder = serde_json::from_value(job.work).map_err(invalid)?;
        order.input = job.input.or(order.input);
        order.allowance = min_allowance(order.allowance, job.allowance);
        let folder = self.folder(run)?;
        let alerts = self.alerts_of(&folder, &order);
        let (home, clock) = (self.home.clone(), self.task_loop.clock.clone());
        let record = MemberRecorder::open(home, folder.clone(), &order, clock, alerts).await?;
        let record = Arc::new(record);
        let mut work = self
            .task_loop
            .clone()
            .conversations(folder.conversations())
            .observer(record.clone());
        if let Some(worktrees) = self.worktrees(run, &order).await? {
            work = work.worktrees(worktrees);
        }
        let outcome = work.run_order(&run.id, &order, context).await;
        let is_stopped = folder.stop_requested().ok().flatten().is_some();
        let is_interrupted = context.control().is_cancelled()
            || matches!(outcome.ending, RunEnding::Cancelled { .. });
        // An interrupted merge is a failure here, but the next process resumes it.
        let is_left_for_later = is_interrupted && !is_stopped && !outcome.is_success();
        if !is_left_for_later {
            record.share(&outcome).await;
            folder.remove_conversations();
        }
        record.flush().await;
        Ok(outcome)
    }

    fn folder(&self, run: &RunSpec) -> Result<MemberFolder, Failure> {
        let failed = |message: String| Failure::permanent("member_folder", message);
        let id = MemberId::new(run.id.as_str());
        let folder = MemberFolder::new(self.home.path(), &id);
        let folder = folder.map_err(|error| failed(error.to_string()))?;
        self.home
            .create()
            .map_err(|error| failed(error.to_string()))?;
        // The folder exists already, unless this is a task of an engine without folders.
        let created = create_folder(folder.path());
        created.map_err(|error| failed(format!("{:?}: {error}", folder.path())))?;
        Ok(folder)
    }

    /// Creates the alert manager of a member.
    fn alerts_of(&self, folder: &MemberFolder, order: &WorkOrder) -> AlertManager {
        let alerts = AlertManager::new(folder.alert_log().path());
        let alerts = (self.alerts)(alerts.shared_log(self.home.shared_alert_log()));
        if order.pause_on_critical {
            alerts.pausing_on_critical(folder)
        } else {
            alerts
        }
    }

    async fn worktrees(
        &self,
        run: &RunSpec,
        order: &WorkOrder,
    ) -> Result<Option<Worktrees>, Failure> {
        let (Isolation::Worktree { .. }, Some(git)) = (&order.isolation, &self.git) else {
            return Ok(None);
        };
        let fleet = run.id.as_str().split('.').next().unwrap_or_default();
        let worktrees = self.home.worktrees(fleet, git.clone()).await;
        let failed = |error: crate::isolation::IsolationError| {
            Failure::permanent("not_isolated", error.to_string())
        };
        worktrees.map(Some).map_err(failed)
    }
}

#[async_trait]
impl JobRunner for MemberWork {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let outcome = self.work(run, context).await;
        outcome.unwrap_or_else(RunOutcome::failed)
    }
}

/// Returns the smaller limit of each kind.
fn min_allowance(one: Allowance, other: Allowance) -> Allowance {
    let mut amounts = one.amounts();
    for (amount, other) in amounts.iter_mut().zip(other.amounts()) {
        *amount = [*amount, other].into_iter().flatten().min();
    }
    Allowance::from_amounts(amounts)
}

impl fmt::Debug for MemberWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberWork")
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}
