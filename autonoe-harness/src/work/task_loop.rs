//! Task loop: executes the tasks of one member and verifies them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::time::{Clock, SystemClock};
use serde::Deserialize;

use super::messages::RequestQueue;
use super::{Isolation, RecoveredState, WhenDone, WorkEvent, WorkObserver, WorkOrder};
use crate::budget::{Account, Spending, VerificationBudget};
use crate::executor::{ExecutionReport, Executors, Task, TaskId, Verification};
use crate::isolation::{Author, IsolationError, WorkLocation, Worktree, Worktrees};
use crate::progress::SnapshotLimits;
use crate::progress::ledger_counts;
use crate::strategy::{MemberId, MemberReport};

/// Builds the executors for a folder.
pub(super) type ExecutorFactory = Arc<dyn Fn(&Path) -> Executors + Send + Sync>;

/// Runs the tasks of one fleet member: execute, verify, measure progress, and recover a stuck
/// agent, until everything is verified or nothing is left to try.
///
/// [`run_order`](Self::run_order) runs a [`WorkOrder`]. The loop is also a [`JobRunner`]: an engine
/// calls it with a [`WorkOrder`] as input. A pause takes effect before the next turn. Messages of people reach the agent
/// once, in the current turn if its backend supports that, otherwise in the next.
///
/// The next turn of a task continues the conversation of the last one, if the backend supports that
/// and has the same model, unless the last turn failed or a stuck agent gets a new prompt.
///
/// The time limit of a task applies to all of its turns together, with their checks; pauses do not
/// count. If there is no quota, or the backend fails in a way that may pass, the task waits and
/// retries: such turns do not count as iterations.
///
/// After a crash, the loop resumes from what its [`WorkObserver`] recorded: finished tasks stay
/// finished, earlier spending counts, and a task whose iterations are interrupted again and again
/// reaches its limit.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::engine::{JobRunner, JobContext, RunSpec};
/// use autonoe_core::{RunControl, RunId};
/// use autonoe_harness::work::{Isolation, WorkOrder};
/// use autonoe_harness::{AgentExecutor, Executors, Task, TaskLoop};
/// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// # let agents = Arc::new(ScriptedBackend::new([SessionScript::new("work").says("Done.").ends()]));
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// # let clock = Arc::new(VirtualClock::new());
/// let executor = AgentExecutor::new("codex", agents, folder);
/// # let executor = executor.clock(clock.clone());
/// let work = TaskLoop::new(folder, move |folder| {
///     Executors::default().executor(executor.clone().root(folder))
/// });
/// # let work = work.clock(clock);
/// let order = WorkOrder::new([Task::new("T-1", "Add a login page.")?], Isolation::Shared);
/// let run = RunSpec::new(RunId::new("one"), "work", serde_json::to_value(&order)?);
///
/// let outcome = work.run(&run, &JobContext::new(RunControl::new(), |_| {})).await;
///
/// assert!(outcome.is_success());
/// assert_eq!(outcome.output["output"], "Done.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct TaskLoop {
    pub(super) folder: PathBuf,
    pub(super) executor_factory: ExecutorFactory,
    pub(crate) clock: Arc<dyn Clock>,
    observer: Arc<dyn WorkObserver>,
    pub(super) worktrees: Option<Worktrees>,
    pub(super) author: Author,
    pub(super) limits: SnapshotLimits,
    pub(super) conversations: Option<PathBuf>,
}

impl TaskLoop {
    /// Creates a loop for work in `folder`. `executor_factory` builds the executors for a folder: that one,
    /// or a worktree.
    pub fn new(
        folder: impl Into<PathBuf>,
        executor_factory: impl Fn(&Path) -> Executors + Send + Sync + 'static,
    ) -> Self {
        Self {
            folder: folder.into(),
            executor_factory: Arc::new(executor_factory),
            clock: Arc::new(SystemClock),
            observer: Arc::new(|_: &WorkEvent| Ok(())),
            worktrees: None,
            author: Author::default(),
            limits: SnapshotLimits::default(),
            conversations: None,
        }
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the directory in which backends store conversations, as in
    /// [`Execution::conversations`](crate::executor::Execution::conversations). The caller deletes
    /// it.
    #[must_use]
    pub fn conversations(mut self, directory: impl Into<PathBuf>) -> Self {
        self.conversations = Some(directory.into());
        self
    }

    /// Sets the observer of the single run that this loop executes. An observer with events of
    /// another run is refused: the tasks of the two runs would be confused.
    #[must_use]
    pub fn observer(mut self, observer: impl WorkObserver + 'static) -> Self {
        self.observer = Arc::new(observer);
        self
    }

    /// Returns the recorded state of a run, and records that the run is opened.
    async fn open_state(&self, run: &RunId) -> Result<RecoveredState, Failure> {
        let mut state = self.observer.recovered_state().await?;
        if let Some(other) = state.run().filter(|other| *other != run) {
            let message = format!("the journal belongs to the run {other}, not to {run}");
            return Err(Failure::permanent("journal", message));
        }
        let (run, at) = (run.clone(), self.clock.now());
        let opened = WorkEvent::Opened { run, at };
        self.observer.note(&opened).await?;
        state.apply(&opened);
        Ok(state)
    }

    /// Sets the worktrees. Without them, orders that require one fail.
    #[must_use]
    pub fn worktrees(mut self, worktrees: Worktrees) -> Self {
        self.worktrees = Some(worktrees);
        self
    }

    /// Sets the author of commits.
    #[must_use]
    pub fn author(mut self, author: Author) -> Self {
        self.author = author;
        self
    }

    /// Sets the limits of snapshots, and how many changed lines give the full score.
    #[must_use]
    pub fn snapshots(mut self, limits: SnapshotLimits) -> Self {
        self.limits = limits;
        self
    }

    async fn isolate(&self, run: &RunId, order: &WorkOrder) -> Result<Option<Worktree>, Failure> {
        let Isolation::Worktree { name, base, .. } = &order.isolation else {
            return Ok(None);
        };
        let failed = |message: String| Failure::permanent("not_isolated", message);
        let Some(trees) = &self.worktrees else {
            return Err(failed(
                "the order needs a worktree, but no folder for worktrees is configured".to_owned(),
            ));
        };
        let trees = trees.clone().for_run(run.as_str());
        let opened = async {
            if let Some(left) = trees.open_existing(name).await? {
                left.make_folder()?;
                // Its work would be merged into another branch than the one in the order.
                return if base.as_ref().is_none_or(|base| base == left.base()) {
                    Ok(left)
                } else {
                    Err(IsolationError::Exists(left.location()))
                };
            }
            match base {
                Some(base) => trees.create(name, base).await,
                None => trees.create(name, &trees.current_branch().await?).await,
            }
        };
        let opened = opened
            .await
            .map_err(|error: IsolationError| Failure::permanent("not_isolated", error.to_string()));
        opened.map(Some)
    }
}

/// End of a task, or of one explored approach.
pub(super) enum TaskEnd {
    /// The task is done and verified.
    Done,
    /// The task failed, and nothing more is tried.
    Failed(String),
    /// The work was stopped from outside.
    Stopped,
}

/// Work in progress.
pub(super) struct Work<'a> {
    pub(super) task_loop: &'a TaskLoop,
    pub(super) order: &'a WorkOrder,
    pub(super) context: &'a JobContext,
    pub(super) messages: RequestQueue,
    pub(super) account: Account,
    pub(super) folder: PathBuf,
    pub(super) worktree: Option<Worktree>,
    /// Locations of unmerged work, in addition to those in the state.
    pub(super) unmerged_work: Vec<WorkLocation>,
    /// The number of the last iteration.
    pub(super) iteration: u32,
    /// Everything that was recorded of the run, by earlier processes and by this one.
    pub(super) state: RecoveredState,
    done: BTreeSet<TaskId>,
}

#[async_trait]
impl JobRunner for TaskLoop {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        match WorkOrder::deserialize(&run.input) {
            Ok(order) => self.run_order(&run.id, &order, context).await,
            Err(error) => not_started(&run.id, invalid_order(error.to_string())),
        }
    }
}

impl TaskLoop {
    /// Runs an order until it ends or is cancelled. The output of the outcome is a
    /// [`MemberReport`].
    pub async fn run_order(
        &self,
        run: &RunId,
        order: &WorkOrder,
        context: &JobContext,
    ) -> RunOutcome {
        let problems = order.problems();
        if !problems.is_empty() {
            return not_started(run, invalid_order(problems.join("; ")));
        }
        let state = match self.open_state(run).await {
            Ok(state) => state,
            Err(failure) => return not_started(run, failure),
        };
        let worktree = match self.isolate(run, order).await {
            Ok(worktree) => worktree,
            Err(failure) => {
                return not_started(run, failure).with_spent(state.spending().spent);
            }
        };
        let folder = worktree.as_ref().map(|tree| tree.folder().to_owned());
        let ticked = order.tasks.iter().filter(|planned| planned.is_done);
        let mut done: BTreeSet<_> = ticked.map(|planned| planned.task.id.clone()).collect();
        let verified = state.done().map(|(id, _)| id);
        let is_ordered = |id: &&TaskId| order.tasks.iter().any(|it| it.task.id == **id);
        done.extend(verified.filter(is_ordered).cloned());
        let mut work = Work {
            task_loop: self,
            order,
            context,
            messages: RequestQueue::new(context.control(), state.delivered().clone()),
            account: state.open_account(order.allowance, order.max_iterations),
            folder: folder.unwrap_or_else(|| self.folder.clone()),
            worktree,
            unmerged_work: Vec::new(),
            iteration: 0,
            done,
            state,
        };
        let started = work.state.started_at().unwrap_or_else(|| self.clock.now());
        let mut end = work.all_tasks().await;
        // Before the conclusion, because a merged worktree is removed.
        let deliverables = deliverables_passed(work.folder.clone()).await;
        if let Err(failed) = work.conclude(matches!(end, Ok(TaskEnd::Done))).await {
            end = end.map(|_| TaskEnd::Failed(failed));
        }
        work.into_outcome(run, end, started, deliverables).await
    }
}

/// Returns the failure of a run whose order is invalid.
pub(crate) fn invalid_order(message: String) -> Failure {
    Failure::permanent("work_order", message)
}

/// Returns the outcome of a run that did not start, in the common output format.
fn not_started(run: &RunId, failure: Failure) -> RunOutcome {
    let id = MemberId::new(run.as_str());
    let result = MemberReport::failure(id, &failure.message);
    let output = serde_json::to_value(&result).unwrap_or_default();
    RunOutcome::failed(failure).with_output(output)
}

/// Returns the number of passed deliverables in the ledger of a folder.
async fn deliverables_passed(folder: PathBuf) -> u64 {
    let counted = tokio::task::spawn_blocking(move || ledger_counts(&folder)).await;
    let passed = counted.ok().flatten().map_or(0, |counts| counts.passed);
    u64::try_from(passed).unwrap_or(u64::MAX)
}

impl Work<'_> {
    /// Records an event, and applies it to the state.
    pub(super) async fn record(&mut self, event: &WorkEvent) -> Result<(), Failure> {
        self.task_loop.observer.note(event).await?;
        self.state.apply(event);
        Ok(())
    }

    /// Returns the verified tasks in the order in which they were verified, with their results.
    pub(super) fn verified(&self) -> impl Iterator<Item = (&Task, &ExecutionReport)> {
        self.state.done().filter_map(|(id, result)| {
            let planned = self.order.tasks.iter().find(|it| it.task.id == *id);
            Some((&planned?.task, result))
        })
    }

    /// Returns the share of tasks that are done, from 0 to 1.
    pub(super) fn progress(&self) -> f64 {
        match self.order.tasks.len() {
            0 => 1.0,
            all => self.done.len() as f64 / all as f64,
        }
    }

    async fn all_tasks(&mut self) -> Result<TaskEnd, Failure> {
        self.record_missing_ends().await?;
        let order = self.order;
        let before = order.tasks.iter().map(|planned| &planned.task.id);
        let before: BTreeMap<_, _> = self
            .state
            .failed()
            .filter(|(id, _)| before.clone().any(|task| task == *id))
            .collect();
        let message = |id: &TaskId, reason: &str| format!("the task {id} failed: {reason}");
        let mut reasons: Vec<_> = before
            .iter()
            .map(|(id, reason)| message(id, reason))
            .collect();
        let mut failed: BTreeSet<TaskId> = before.into_keys().cloned().collect();
        loop {
            let ready = order.tasks.iter().find(|planned| {
                let id = &planned.task.id;
                let is_open = !self.done.contains(id) && !failed.contains(id);
                is_open && planned.depends.iter().all(|id| self.done.contains(id))
            });
            let Some(planned) = ready else { break };
            let task = &planned.task;
            match self.run_task(task).await? {
                TaskEnd::Stopped => return Ok(TaskEnd::Stopped),
                TaskEnd::Failed(reason) => {
                    failed.insert(task.id.clone());
                    reasons.push(message(&task.id, &reason));
                }
                TaskEnd::Done => {
                    self.done.insert(task.id.clone());
                }
            }
            self.report(None, self.iteration, &self.folder);
        }
        let open: Vec<_> = order
            .tasks
            .iter()
            .map(|planned| &planned.task.id)
            .filter(|id| !self.done.contains(id) && !failed.contains(id))
            .map(ToString::to_string)
            .collect();
        if !open.is_empty() {
            reasons.push(format!(
                "not started, because a task that they depend on failed: {}",
                open.join(", ")
            ));
        }
        Ok(if reasons.is_empty() {
            TaskEnd::Done
        } else {
            TaskEnd::Failed(reasons.join("; "))
        })
    }

    /// Commits the work in the worktree, and merges it if it is done and that is configured.
    async fn conclude(&mut self, is_done: bool) -> Result<(), String> {
        let Some(own) = self.worktree.clone() else {
            return Ok(());
        };
        let author = &self.task_loop.author;
        let finished = own
            .commit_all(author, &format!("Work of {}", own.branch()))
            .await;
        if let Err(error) = finished {
            self.unmerged_work.push(own.location());
            return Err(error.to_string());
        }
        let wants_merge = matches!(
            self.order.isolation,
            Isolation::Worktree {
                when_done: WhenDone::Merge,
                ..
            }
        );
        if !(is_done && wants_merge) {
            self.unmerged_work.push(own.location());
            return Ok(());
        }
        let executors = (self.task_loop.executor_factory)(own.folder());
        let budget = VerificationBudget::new(self.account.free());
        let merged = {
            let (work, executors, budget) = (&*self, &executors, &budget);
            let checks = |_| async move {
                for (task, result) in work.verified() {
                    let verifying = executors.verify_success(task, result, budget);
                    let verification = work.verify_unless_stopped(verifying).await;
                    if !verification.is_success() {
                        return verification;
                    }
                }
                Verification::passed("all success criteria still hold")
            };
            let is_wanted = || !work.context.control().is_cancelled();
            own.merge_while(author, is_wanted, checks).await
        };
        let paid = self.charge_checks(&budget).await;
        if let Err(error) = merged {
            self.unmerged_work.push(own.location());
            return Err(error.to_string());
        }
        paid.map_err(|failure| failure.to_string())?;
        if let Err(error) = own.remove().await {
            tracing::warn!(%error, "cannot remove a merged worktree");
            self.unmerged_work.push(own.location());
        }
        Ok(())
    }

    async fn into_outcome(
        self,
        run: &RunId,
        end: Result<TaskEnd, Failure>,
        started: jiff::Timestamp,
        deliverables: u64,
    ) -> RunOutcome {
        let progress = self.progress();
        let Spending { spent, sessions } = self.account.spent();
        let id = MemberId::new(run.as_str());
        let last = self.verified().last().map(|(_, result)| result);
        let output = last.map_or("", |result| match result.answer.as_str() {
            "" => &result.output,
            answer => answer,
        });
        let (failure, is_stopped) = match &end {
            Ok(TaskEnd::Done) => (None, false),
            Ok(TaskEnd::Failed(reason)) => (Some(Failure::permanent("not_done", reason)), false),
            Ok(TaskEnd::Stopped) => (
                Some(Failure::permanent("stopped", "the member was stopped")),
                true,
            ),
            Err(failure) => (Some(failure.clone()), false),
        };
        let mut result = match &failure {
            None => MemberReport::success(id, output),
            Some(failure) => MemberReport::failure(id, &failure.message),
        };
        result.output = output.to_owned();
        result.progress = progress;
        result.failures = self.state.failures();
        result.tests_passed = self.state.tests_passed();
        result.criteria_passed = self.state.criteria_passed();
        result.deliverables_passed = deliverables;
        result.cost = spent.cost;
        result.tokens = spent.tokens;
        if let Ok(TaskEnd::Failed(_)) = &end {
            result.exhausted = self.account.exhausted();
        }
        result.unmerged_work = [self.state.unmerged_work(), &self.unmerged_work].concat();
        let elapsed = self.task_loop.clock.now().duration_since(started);
        result.duration = Duration::try_from(elapsed).unwrap_or_default();
        let undelivered = self.messages.into_undelivered();
        let closed = WorkEvent::Closed { undelivered };
        let closed = self.task_loop.observer.note(&closed).await;
        let failure = failure.or(closed.err());
        result.success = failure.is_none();
        let output = serde_json::to_value(&result).unwrap_or_default();
        let outcome = match failure {
            None => RunOutcome::succeeded(output),
            Some(_) if is_stopped => {
                RunOutcome::cancelled("the member was stopped").with_output(output)
            }
            Some(failure) => RunOutcome::failed(failure).with_output(output),
        };
        outcome.with_spent(spent).with_sessions(sessions)
    }
}

impl fmt::Debug for TaskLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLoop")
            .field("folder", &self.folder)
            .field("worktrees", &self.worktrees)
            .finish_non_exhaustive()
    }
}
