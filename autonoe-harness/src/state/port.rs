//! The state of a harness.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    AttemptRecord, Claim, Claimant, Cursor, ExecutionRecord, HarnessEvent, HarnessPlan,
    HarnessRecord, NewHarnessEvent, ProgressSample, StateError, StoredTask, TaskEnd, TaskPlan,
    TaskUpdate,
};
use crate::TaskId;

/// Keeps what a harness is to do, what it did and who does what, for several workers at once.
///
/// An implementer owes:
/// - all or nothing: an operation that returned an error, or was never heard of again, has
///   happened as a whole or not at all;
/// - that what was acknowledged stays, as far as it promises to survive anything;
/// - one claim on a task at a time, whoever asks and however many at once. A claim ends with
///   [`finish`](Self::finish) or [`give_back`](Self::give_back), by its lease or by
///   [`release_owner`](Self::release_owner); in the latter two cases the task is claimed again, by
///   one other, and what the earlier owner still says is [refused](StateError::Fenced);
/// - that a task that has ended is never claimed again, unless
///   [`update_task_status`](Self::update_task_status) makes it wait.
///
/// Times are the caller's. Claims are safe whatever the clocks say: a wrong clock makes an owner
/// that lives be taken for gone, and then it is fenced off. It is not a place for what agents say as
/// they say it; logs are files.
///
/// A caller may drop any future of it: what was asked for happens or not, but never half.
///
/// ```
/// use autonoe_harness::{
///     Claimant, HarnessId, HarnessPlan, MemoryState, StateStore, Task, TaskEnd, TaskPlan,
/// };
/// use jiff::Timestamp;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let state = MemoryState::new();
/// let now = Timestamp::UNIX_EPOCH;
/// let parser = TaskPlan::new(Task::new("parser", "Read sums.")?);
/// let shell = TaskPlan::new(Task::new("shell", "Ask for a line.")?).after("parser".parse()?);
/// let plan = HarnessPlan::new(HarnessId::new("h"), [parser, shell]);
/// state.init_harness(&plan, now).await?;
///
/// let claim = state.claim_next(&Claimant::new("h"), now).await?.expect("one is ready");
/// assert_eq!(claim.id().as_str(), "parser");
/// assert!(state.claim_next(&Claimant::new("other"), now).await?.is_none());
///
/// state.finish(&claim, &TaskEnd::completed("it reads"), now).await?;
/// let next = state.claim_next(&Claimant::new("other"), now).await?.expect("one is ready");
/// assert_eq!(next.id().as_str(), "shell");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait StateStore: Send + Sync {
    /// Keeps what a harness is to do.
    ///
    /// Again, for the same harness, it brings what is new: tasks that nobody has begun are replaced,
    /// others keep what became of them, and none goes away.
    ///
    /// # Errors
    ///
    /// [`StateError::Conflict`] if this is the state of another harness, [`StateError::Invalid`] if
    /// the plan does not [hold](HarnessPlan::check).
    async fn init_harness(&self, plan: &HarnessPlan, now: Timestamp) -> Result<(), StateError>;

    /// Returns whose state this is, if anybody's.
    async fn harness(&self) -> Result<Option<HarnessRecord>, StateError>;

    /// Keeps a task: behind all others if it is new, in its place if it is known.
    ///
    /// A known task that is in progress or has ended keeps its status, its claim and its attempts. An
    /// attempt under way keeps the definition that its claim has.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`]: with this task, the plan does not [hold](HarnessPlan::check).
    async fn save_task(&self, planned: &TaskPlan, now: Timestamp) -> Result<(), StateError>;

    /// Returns a task, or `None` if there is none of that name.
    async fn load_task(&self, id: &TaskId) -> Result<Option<StoredTask>, StateError>;

    /// Returns all tasks in their order.
    async fn tasks(&self) -> Result<Vec<StoredTask>, StateError>;

    /// Returns the tasks that have not ended, in their order, those that are being worked on
    /// included.
    async fn get_incomplete_tasks(&self) -> Result<Vec<StoredTask>, StateError>;

    /// Sets the status of a task, its output and its error, whatever its status is. The same update again
    /// changes nothing.
    ///
    /// A claim on the task ends: what its owner reports afterwards is refused with
    /// [`StateError::Fenced`]. An owner reports its own end with [`finish`](Self::finish). A task that
    /// becomes pending or in progress can be claimed.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    async fn update_task_status(
        &self,
        id: &TaskId,
        update: &TaskUpdate,
        now: Timestamp,
    ) -> Result<(), StateError>;

    /// Logs an execution.
    ///
    /// It happened, so it is logged also for who was taken over meanwhile.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    async fn log_execution(&self, execution: &ExecutionRecord) -> Result<(), StateError>;

    /// Returns the executions of a task in the order in which they were logged.
    async fn executions(&self, id: &TaskId) -> Result<Vec<ExecutionRecord>, StateError>;

    /// Takes the first task that is ready, or returns `None` if none is.
    ///
    /// A task is ready when all that it depends on is [completed](super::TaskStatus::Completed) and it
    /// waits, or the lease of who worked on it is over.
    async fn claim_next(
        &self,
        claimant: &Claimant,
        now: Timestamp,
    ) -> Result<Option<Claim>, StateError>;

    /// Says that the owner of a claim lives: its lease begins anew.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]: somebody else has it; stop working.
    async fn renew(&self, claim: &Claim, now: Timestamp) -> Result<(), StateError>;

    /// Ends the task of a claim. To say the same again changes nothing.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]: somebody else has it, and what this one did does not count.
    async fn finish(&self, claim: &Claim, end: &TaskEnd, now: Timestamp) -> Result<(), StateError>;

    /// Gives a task back, for somebody to go on with.
    ///
    /// # Errors
    ///
    /// [`StateError::Fenced`]: somebody else has it.
    async fn give_back(&self, claim: &Claim, now: Timestamp) -> Result<(), StateError>;

    /// Gives back all that an owner works on, which is known to be gone with all that it started,
    /// and returns the tasks.
    async fn release_owner(&self, owner: &str, now: Timestamp) -> Result<Vec<TaskId>, StateError>;

    /// Returns every time that a task was claimed, in order.
    async fn attempts(&self, id: &TaskId) -> Result<Vec<AttemptRecord>, StateError>;

    /// Adds an event behind all others, and returns where it stands. An event whose key is known is not
    /// added: the cursor of the first one is returned.
    async fn append_event(&self, event: &NewHarnessEvent) -> Result<Cursor, StateError>;

    /// Returns up to `limit` events behind `after`, in order.
    ///
    /// Who goes on from the cursor of the last one misses none and sees none twice.
    async fn events_since(
        &self,
        after: Cursor,
        limit: usize,
    ) -> Result<Vec<HarnessEvent>, StateError>;

    /// Keeps how far a task seems to be. Another sample of the same iteration is kept beside it.
    ///
    /// # Errors
    ///
    /// [`StateError::Unknown`].
    async fn save_progress(&self, sample: &ProgressSample) -> Result<(), StateError>;

    /// Returns how far a task seemed to be, in the order in which that was kept.
    async fn progress_of(&self, id: &TaskId) -> Result<Vec<ProgressSample>, StateError>;
}
