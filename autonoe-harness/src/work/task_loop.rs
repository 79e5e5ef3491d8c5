//! What carries out the tasks of one member.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{Clock, Failure, JobRunner, RunDesk, RunId, RunOutcome, RunSpec, SystemClock};

use super::account::Account;
use super::attempt::TaskEnd;
use super::messages::Messages;
use super::passed_checks::PassedChecks;
use super::{Isolation, NoWorkObserver, WhenDone, WorkEvent, WorkObserver, WorkOrder, WorkSoFar};
use crate::progress::ledger_counts;
use crate::{
    Author, ExecutionResult, Executors, HarnessId, HarnessResult, IsolationError, SnapshotLimits,
    Task, TaskId, Verification, VerificationTab, WorkPlace, Worktree, Worktrees,
};

/// Says who takes note of what happens in a run.
type Observers = Arc<dyn Fn(&RunId) -> Result<Arc<dyn WorkObserver>, Failure> + Send + Sync>;

/// Makes executors for a folder.
pub(super) type Workshop = Arc<dyn Fn(&Path) -> Executors + Send + Sync>;

/// Carries out the tasks of one member of a fleet: execute, verify, look for progress, and when the
/// agent is stuck change something, until all is verified or nothing is left to try.
///
/// It is a [`JobRunner`]: an engine calls it with a [`WorkOrder`] as input, and its output is a
/// [`HarnessResult`]. A pause holds before the next turn; what persons say reaches the agent once,
/// in the turn under way if its backend can, else in the next.
///
/// The next turn at a task continues the conversation of the last one, where the backend can and
/// has the same model, and unless the last one failed or a stuck agent gets a new prompt.
///
/// A task has its time for all of its turns together, with their checks; pauses do not count. Where
/// there is no quota, or the backend fails in a way that may pass, it waits and tries again: such
/// turns do not count as iterations.
///
/// Carried out again after its process was lost, it goes on by what its [`WorkObserver`] noted:
/// what is done stays done, what was spent counts, and a task whose iterations are cut off again and
/// again comes to its limit.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{JobRunner, RunControl, RunDesk, RunId, RunSpec};
/// use autonoe_harness::{AgentExecutor, Executors, Isolation, Task, TaskLoop, WorkOrder};
/// # use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// # let agents = Arc::new(ScriptedAgents::new([SessionScript::new("work").says("Done.").ends()]));
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// # let clock = Arc::new(VirtualClock::new());
/// let executor = AgentExecutor::new("codex", agents, folder);
/// # let executor = executor.clock(clock.clone());
/// let work = TaskLoop::new(folder, move |folder| {
///     Executors::default().with(executor.clone().in_folder(folder))
/// });
/// # let work = work.clock(clock);
/// let order = WorkOrder::new([Task::new("T-1", "Add a login page.")?], Isolation::Shared);
/// let run = RunSpec::new(RunId::new("one"), "work", serde_json::to_value(&order)?);
///
/// let outcome = work.run(&run, &RunDesk::new(RunControl::new(), |_| {})).await;
///
/// assert!(outcome.is_success());
/// assert_eq!(outcome.output["output"], "Done.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct TaskLoop {
    pub(super) folder: PathBuf,
    pub(super) workshop: Workshop,
    pub(super) clock: Arc<dyn Clock>,
    observers: Observers,
    pub(super) worktrees: Option<Worktrees>,
    pub(super) author: Author,
    pub(super) limits: SnapshotLimits,
    pub(super) conversations: Option<PathBuf>,
}

impl TaskLoop {
    /// Makes a loop for work in `folder`, with the executors that `workshop` makes for a folder:
    /// that one, or a worktree.
    pub fn new(
        folder: impl Into<PathBuf>,
        workshop: impl Fn(&Path) -> Executors + Send + Sync + 'static,
    ) -> Self {
        Self {
            folder: folder.into(),
            workshop: Arc::new(workshop),
            clock: Arc::new(SystemClock),
            observers: Arc::new(|_| Ok(Arc::new(NoWorkObserver))),
            worktrees: None,
            author: Author::default(),
            limits: SnapshotLimits::default(),
            conversations: None,
        }
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the directory in which backends keep conversations, as in
    /// [`Execution::conversations`](crate::Execution::conversations). The caller deletes it.
    #[must_use]
    pub fn conversations(mut self, directory: impl Into<PathBuf>) -> Self {
        self.conversations = Some(directory.into());
        self
    }

    /// Says who takes note of what happens in the one run that this loop carries out. One that
    /// remembers another run is refused: it would take the tasks of that for those of this.
    #[must_use]
    pub fn observed_by(self, observer: impl WorkObserver + 'static) -> Self {
        let observer: Arc<dyn WorkObserver> = Arc::new(observer);
        self.observed_by_each(move |_| Ok(observer.clone()))
    }

    /// Says who takes note of what happens, for each run another: for a loop that carries out
    /// several. That there is nobody is a failure, and nothing begins.
    #[must_use]
    pub fn observed_by_each(
        mut self,
        observer: impl Fn(&RunId) -> Result<Arc<dyn WorkObserver>, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.observers = Arc::new(observer);
        self
    }

    /// Returns who takes note of what happens in a run, and what was before.
    async fn observer(&self, run: &RunId) -> Result<(Arc<dyn WorkObserver>, WorkSoFar), Failure> {
        let observer = (self.observers)(run)?;
        let so_far = observer.so_far().await?;
        if let Some(other) = so_far.run().filter(|other| *other != run) {
            let message = format!("what was noted is about the run {other}, and not about {run}");
            return Err(Failure::permanent("journal", message));
        }
        let (run, at) = (run.clone(), self.clock.now());
        observer.note(&WorkEvent::Opened { run, at }).await?;
        Ok((observer, so_far))
    }

    /// Says where worktrees are made. Without that, orders that ask for one fail.
    #[must_use]
    pub fn isolated_in(mut self, worktrees: Worktrees) -> Self {
        self.worktrees = Some(worktrees);
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

    async fn isolate(&self, run: &RunId, order: &WorkOrder) -> Result<Option<Worktree>, Failure> {
        let Isolation::Worktree { name, base, .. } = &order.isolation else {
            return Ok(None);
        };
        let failed = |message: String| Failure::permanent("not_isolated", message);
        let Some(trees) = &self.worktrees else {
            return Err(failed(
                "a worktree is asked for, and none can be made here".to_owned(),
            ));
        };
        let trees = trees.clone().for_run(run.as_str());
        let made = async {
            if let Some(left) = trees.take_up(name).await? {
                left.make_folder()?;
                // Its work would be merged into another branch than the order says.
                return match base.as_ref().is_none_or(|base| base == left.base()) {
                    true => Ok(left),
                    false => Err(IsolationError::Exists(left.place())),
                };
            }
            match base {
                Some(base) => trees.create(name, base).await,
                None => trees.create(name, &trees.current_branch().await?).await,
            }
        };
        let made = made
            .await
            .map_err(|error: IsolationError| Failure::permanent("not_isolated", error.to_string()));
        made.map(Some)
    }
}

/// Work under way.
pub(super) struct Work<'a> {
    pub(super) lines: &'a TaskLoop,
    pub(super) order: &'a WorkOrder,
    pub(super) desk: &'a RunDesk,
    pub(super) messages: Messages,
    pub(super) account: Account,
    pub(super) folder: PathBuf,
    pub(super) worktree: Option<Worktree>,
    pub(super) kept: Vec<WorkPlace>,
    pub(super) failures: u32,
    /// The number of the last iteration.
    pub(super) iteration: u32,
    /// How long the iterations of the task under way took.
    pub(super) worked: Duration,
    /// What earlier lives of the run came to.
    pub(super) so_far: WorkSoFar,
    observer: Arc<dyn WorkObserver>,
    pub(super) checks: PassedChecks,
    done: BTreeSet<TaskId>,
    /// What was verified, to be verified again before it is merged.
    verified: Vec<(Task, ExecutionResult)>,
}

/// How all of it ended.
enum End {
    Done,
    Failed(String),
    Stopped,
}

#[async_trait]
impl JobRunner for TaskLoop {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let wrong = |message: String| Failure::permanent("work_order", message);
        let order: WorkOrder = match serde_json::from_value(run.input.clone()) {
            Ok(order) => order,
            Err(error) => return not_begun(run, wrong(error.to_string())),
        };
        let problems = order.problems();
        if !problems.is_empty() {
            return not_begun(run, wrong(problems.join("; ")));
        }
        let (observer, so_far) = match self.observer(&run.id).await {
            Ok(observed) => observed,
            Err(failure) => return not_begun(run, failure),
        };
        let worktree = match self.isolate(&run.id, &order).await {
            Ok(worktree) => worktree,
            Err(failure) => {
                return not_begun(run, failure).with_spent(so_far.spending().spent);
            }
        };
        let folder = worktree.as_ref().map(|tree| tree.folder().to_owned());
        let ticked = order.tasks.iter().filter(|planned| planned.is_done);
        let mut done: BTreeSet<_> = ticked.map(|planned| planned.task.id.clone()).collect();
        let mut verified = Vec::new();
        for (id, result) in so_far.done() {
            let planned = order.tasks.iter().find(|planned| planned.task.id == *id);
            if let Some(planned) = planned {
                done.insert(id.clone());
                verified.push((planned.task.clone(), result.clone()));
            }
        }
        let mut work = Work {
            lines: self,
            order: &order,
            desk,
            messages: Messages::new(desk.control(), so_far.told().clone()),
            account: Account::after(order.allowance, order.max_iterations, &so_far),
            folder: folder.unwrap_or_else(|| self.folder.clone()),
            worktree,
            kept: so_far.kept().to_vec(),
            failures: so_far.failures(),
            iteration: 0,
            worked: Duration::ZERO,
            done,
            verified,
            checks: so_far.passed_checks().clone(),
            so_far,
            observer,
        };
        let began = work.so_far.began().unwrap_or_else(|| self.clock.now());
        let mut end = work.all_tasks().await;
        // A worktree that is merged is removed.
        let deliverables = deliverables_passed(work.folder.clone()).await;
        if let Err(failed) = work.conclude(matches!(end, Ok(End::Done))).await {
            end = end.map(|_| End::Failed(failed));
        }
        work.into_outcome(run, end, began, deliverables).await
    }
}

/// Says that nothing was begun, in the form that every output has.
fn not_begun(run: &RunSpec, failure: Failure) -> RunOutcome {
    let id = HarnessId::new(run.id.to_string());
    let result = HarnessResult::failure(id, &failure.message);
    let output = serde_json::to_value(&result).unwrap_or_default();
    RunOutcome::failed(failure).with_output(output)
}

/// Returns how many deliverables have passed in the ledger of a folder.
async fn deliverables_passed(folder: PathBuf) -> u64 {
    let counted = tokio::task::spawn_blocking(move || ledger_counts(&folder)).await;
    let passed = counted.ok().flatten().map_or(0, |counts| counts.passed);
    u64::try_from(passed).unwrap_or(u64::MAX)
}

impl Work<'_> {
    pub(super) async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        self.observer.note(event).await
    }

    /// Returns how much of the tasks is done, from 0 to 1.
    pub(super) fn progress(&self) -> f64 {
        match self.order.tasks.len() {
            0 => 1.0,
            all => self.done.len() as f64 / all as f64,
        }
    }

    async fn all_tasks(&mut self) -> Result<End, Failure> {
        let order = self.order;
        let before = order.tasks.iter().map(|planned| &planned.task.id);
        let before: BTreeMap<_, _> = self
            .so_far
            .failed()
            .filter(|(id, _)| before.clone().any(|task| task == *id))
            .collect();
        let said = |id: &TaskId, reason: &str| format!("the task {id} failed: {reason}");
        let mut why: Vec<_> = before.iter().map(|(id, why)| said(id, why)).collect();
        let mut failed: BTreeSet<TaskId> = before.into_keys().cloned().collect();
        loop {
            let ready = order.tasks.iter().find(|planned| {
                let id = &planned.task.id;
                let is_open = !self.done.contains(id) && !failed.contains(id);
                is_open && planned.depends.iter().all(|id| self.done.contains(id))
            });
            let Some(planned) = ready else { break };
            let task = &planned.task;
            match self.work_on(task).await? {
                TaskEnd::Stopped => return Ok(End::Stopped),
                TaskEnd::Failed(reason) => {
                    failed.insert(task.id.clone());
                    why.push(said(&task.id, &reason));
                }
                TaskEnd::Done(result) => {
                    self.done.insert(task.id.clone());
                    self.verified.push((task.clone(), *result));
                }
            }
            self.report(None, self.iteration);
        }
        let open = order.tasks.iter().map(|planned| &planned.task.id);
        let open = open.filter(|id| !self.done.contains(id) && !failed.contains(id));
        let open: Vec<_> = open.map(ToString::to_string).collect();
        if !open.is_empty() {
            why.push(format!(
                "not begun, because of what they depend on: {}",
                open.join(", ")
            ));
        }
        Ok(match why.is_empty() {
            true => End::Done,
            false => End::Failed(why.join("; ")),
        })
    }

    /// Commits what is in the worktree, and merges it if it is done and should be.
    async fn conclude(&mut self, is_done: bool) -> Result<(), String> {
        let Some(own) = self.worktree.clone() else {
            return Ok(());
        };
        let author = &self.lines.author;
        let finished = own
            .finish(author, &format!("Work of {}", own.branch()))
            .await;
        if let Err(error) = finished {
            self.kept.push(own.place());
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
            self.kept.push(own.place());
            return Ok(());
        }
        let executors = (self.lines.workshop)(own.folder());
        let tab = VerificationTab::new(self.account.free());
        let merged = {
            let (work, executors, tab) = (&*self, &executors, &tab);
            let checks = |_| async move {
                for (task, result) in &work.verified {
                    let looking = executors.verify_on_tab(task, result, tab);
                    let looked = work.unless_stopped(looking).await;
                    if !looked.is_success() {
                        return looked;
                    }
                }
                Verification::passed("all that was verified still holds")
            };
            let wanted = || !work.desk.control().is_cancelled();
            own.merge_while(author, wanted, checks).await
        };
        let paid = self.pay_checks(&tab).await;
        if let Err(error) = merged {
            self.kept.push(own.place());
            return Err(error.to_string());
        }
        paid.map_err(|failure| failure.to_string())?;
        if let Err(error) = own.remove().await {
            tracing::warn!(%error, "a worktree that was merged is left");
            self.kept.push(own.place());
        }
        Ok(())
    }

    async fn into_outcome(
        self,
        run: &RunSpec,
        end: Result<End, Failure>,
        began: jiff::Timestamp,
        deliverables: u64,
    ) -> RunOutcome {
        let (progress, spent) = (self.progress(), self.account.spent());
        let sessions = self.account.sessions();
        let id = HarnessId::new(run.id.to_string());
        let last = self.verified.last().map(|(_, result)| result);
        let output = last.map_or("", |result| match result.answer.as_str() {
            "" => &result.output,
            answer => answer,
        });
        let (failure, is_stopped) = match &end {
            Ok(End::Done) => (None, false),
            Ok(End::Failed(why)) => (Some(Failure::permanent("not_done", why)), false),
            Ok(End::Stopped) => (Some(Failure::permanent("stopped", "it was stopped")), true),
            Err(failure) => (Some(failure.clone()), false),
        };
        let mut result = match &failure {
            None => HarnessResult::success(id, output),
            Some(failure) => HarnessResult::failure(id, &failure.message),
        };
        result.output = output.to_owned();
        result.progress = progress;
        result.failures = self.failures;
        result.tests_passed = self.checks.tests();
        result.criteria_passed = self.checks.criteria();
        result.deliverables_passed = deliverables;
        result.cost = spent.cost;
        result.tokens = spent.tokens;
        if let Ok(End::Failed(_)) = &end {
            result.exhausted = self.account.exhausted();
        }
        result.kept = self.kept.clone();
        let taken = self.lines.clock.now().duration_since(began);
        result.duration = Duration::try_from(taken).unwrap_or_default();
        let observer = self.observer.clone();
        let untold = self.messages.untold();
        let closed = observer.note(&WorkEvent::Closed { untold }).await;
        let failure = failure.or(closed.err());
        result.success = failure.is_none();
        let output = serde_json::to_value(&result).unwrap_or_default();
        let outcome = match failure {
            None => RunOutcome::succeeded(output),
            Some(_) if is_stopped => RunOutcome::cancelled("it was stopped").with_output(output),
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
