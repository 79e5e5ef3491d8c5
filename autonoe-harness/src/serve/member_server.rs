//! Server of a member's folder, from the lock to the outcome.

use std::fmt;
use std::future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::event::{Failure, InvalidValue};
use autonoe_core::time::{Clock, SystemClock};
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use super::served_folder::{ServeOutcome, ServedFolder};
use crate::folder::FolderLock;
use crate::folder::{FolderError, MemberFolder};

/// Maximum number of attempts to acquire the right to serve a folder.
const MAX_ATTEMPTS: u32 = 100;

/// Delay between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Serves the folder of a member: runs its order and handles requests in its files.
///
/// This is the main loop of a member's process, for example `autonoe harness work FOLDER`. A folder
/// is never served twice at the same time. A server that is started again after a kill resumes the
/// order, in the next epoch; serving a member that has ended returns its outcome at once.
///
/// A process that was started by a [`MemberManager`](crate::manager::MemberManager) carries the
/// marker of the folder, and so does everything that it launches. All processes with the marker are
/// killed before the outcome is recorded. The outcome is durable before it is reported.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::engine::{JobRunner, JobContext, RunOutcome, RunSpec};
/// use autonoe_core::RunId;
/// use autonoe_harness::folder::{MemberStatus, MemberFolder};
/// use autonoe_harness::serve::ServeOutcome;
/// use autonoe_harness::strategy::MemberId;
/// use autonoe_harness::MemberServer;
/// use serde_json::json;
///
/// /// Gives back what it was given.
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl JobRunner for Echo {
///     async fn run(&self, run: &RunSpec, _: &JobContext) -> RunOutcome {
///         RunOutcome::succeeded(run.input.clone())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = tempfile::tempdir()?;
/// let folder = MemberFolder::new(root.path(), &MemberId::new("a"))?;
/// folder.submit(&RunSpec::new(RunId::new("a"), "echo", json!("hello")))?;
///
/// let served = MemberServer::new(folder.clone(), Arc::new(Echo)).run().await?;
///
/// assert_eq!(served, ServeOutcome::Ended(RunOutcome::succeeded(json!("hello")).into()));
/// assert_eq!(folder.view()?.status, MemberStatus::Completed);
/// # Ok(())
/// # }
/// ```
pub struct MemberServer {
    folder: MemberFolder,
    runner: Arc<dyn JobRunner>,
    clock: Arc<dyn Clock>,
    every: Duration,
    takeover_timeout: Duration,
    stop_timeout: Duration,
    leave: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl MemberServer {
    /// Default poll interval of the folder.
    pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

    /// Default time limit of a run to end after a stop request.
    pub const STOP_TIMEOUT: Duration = Duration::from_secs(30);

    /// Creates a server of `folder`, whose order `runner` executes.
    pub fn new(folder: MemberFolder, runner: impl JobRunner + 'static) -> Self {
        Self {
            folder,
            runner: Arc::new(runner),
            clock: Arc::new(SystemClock),
            every: Self::POLL_INTERVAL,
            takeover_timeout: Duration::from_secs(10),
            stop_timeout: Self::STOP_TIMEOUT,
            leave: Box::pin(future::pending()),
        }
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the poll interval of the folder; one second by default.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// Sets how long a run may take to end after a stop request; 30 seconds by default. After that
    /// it is killed, with its process tree, and counts as cancelled.
    #[must_use]
    pub fn stop_timeout(mut self, takeover_timeout: Duration) -> Self {
        self.stop_timeout = takeover_timeout;
        self
    }

    /// Sets when this process has to leave, for example on a signal that its coordinator died. The
    /// run is cancelled, and its process tree is killed. It stays without an outcome unless it
    /// succeeds within `takeover_timeout`.
    #[must_use]
    pub fn shutdown_signal(
        mut self,
        leave: impl Future<Output = ()> + Send + 'static,
        takeover_timeout: Duration,
    ) -> Self {
        self.leave = Box::pin(leave);
        self.takeover_timeout = takeover_timeout;
        self
    }

    /// Serves the folder until the run has ended.
    ///
    /// # Errors
    ///
    /// [`FolderError::Held`] by another process; the order or another file cannot be read or
    /// parsed; an event could not be recorded, or the folder is gone. The run has no outcome then.
    pub async fn run(self) -> Result<ServeOutcome, FolderError> {
        let Self {
            folder,
            runner,
            clock,
            every,
            takeover_timeout,
            stop_timeout,
            mut leave,
        } = self;
        InvalidValue::check_time("every(0)", every)?;
        let order = folder.order()?;
        let _lock = lock(&folder, &*clock).await?;
        folder.rebuild_served()?;
        if let Some(outcome) = folder.outcome()? {
            return Ok(ServeOutcome::Ended(outcome.into()));
        }
        // In a dedicated process, the marker finds its descendants when it is killed. A process
        // that serves several folders has no marker.
        folder.marker()?.propagate();
        let mut served = ServedFolder::start(folder, clock.clone())?;
        served.poll()?;
        if served.stop().is_some() {
            let before = served.earlier_spending();
            return served
                .end(RunOutcome::cancelled("").with_spent(before))
                .await;
        }

        let (reports, mut reported) = watch::channel(None);
        let context = JobContext::new(served.control().clone(), move |progress| {
            reports.send_replace(Some(progress));
        });
        let mut work = start(runner, order, context);
        let mut stop_timed_out: BoxFuture<'_, ()> = Box::pin(future::pending());
        let mut is_stopping = false;
        let woken = loop {
            let tick = clock.sleep(every);
            tokio::select! {
                biased;
                done = work.join_next() => break LoopExit::Done(Box::new(done)),
                () = &mut leave => break LoopExit::Shutdown,
                () = &mut stop_timed_out => break LoopExit::StopTimedOut,
                () = tick => {}
            }
            if !served.folder_exists() {
                break LoopExit::FolderRemoved;
            }
            served.record_progress(reported.borrow_and_update().clone());
            served.poll_or_log();
            if served.stop().is_some() && !is_stopping {
                is_stopping = true;
                stop_timed_out = clock.sleep(stop_timeout);
            }
        };
        let (is_done, is_folder_removed) = (
            matches!(woken, LoopExit::Done(_)),
            matches!(woken, LoopExit::FolderRemoved),
        );
        let done = match woken {
            LoopExit::Done(done) => Some(*done),
            LoopExit::StopTimedOut => None,
            LoopExit::Shutdown | LoopExit::FolderRemoved => {
                served.control().cancel();
                let over = clock.sleep(takeover_timeout);
                tokio::select! {
                    biased;
                    done = work.join_next() => Some(done),
                    () = over => None,
                }
            }
        };
        // Whatever it does from now on has no effect.
        work.shutdown().await;
        served.record_progress(reported.borrow_and_update().clone());
        let outcome = done.map(|done| outcome_of(done, served.spending_lower_bound()));
        match outcome {
            _ if is_folder_removed => {
                served.sweep().await;
                Err(served.folder_removed_error())
            }
            Some(outcome) if is_done => served.end(outcome).await,
            // A success counts; anything else may be caused by the cancellation.
            Some(outcome) if outcome.is_success() => served.end(outcome).await,
            Some(outcome) if served.stop().is_some() => served.end(outcome).await,
            None if served.stop().is_some() => served.abandon().await,
            _ => served.release().await,
        }
    }
}

/// Acquires the right to serve the folder. Retries, because a mere check of the lock also holds it
/// for a moment.
async fn lock(folder: &MemberFolder, clock: &dyn Clock) -> Result<FolderLock, FolderError> {
    for _ in 0..MAX_ATTEMPTS {
        match folder.lock_to_serve() {
            Err(FolderError::Held { .. }) => clock.sleep(RETRY_DELAY).await,
            acquired => return acquired,
        }
    }
    folder.lock_to_serve()
}

/// Reason why the loop ended.
enum LoopExit {
    /// The run has ended.
    Done(Box<Option<Result<RunOutcome, JoinError>>>),
    /// This process has to leave.
    Shutdown,
    /// The run did not end after a stop request.
    StopTimedOut,
    /// The folder was removed.
    FolderRemoved,
}

/// Starts the run; dropping the returned value ends it.
fn start(runner: Arc<dyn JobRunner>, order: RunSpec, context: JobContext) -> JoinSet<RunOutcome> {
    let mut work = JoinSet::new();
    work.spawn(async move { runner.run(&order, &context).await });
    work
}

/// Returns the outcome of the run, which spent at least `spent`. A panic is a failure.
fn outcome_of(done: Option<Result<RunOutcome, JoinError>>, spent: BudgetUsage) -> RunOutcome {
    match done {
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) if error.is_panic() => panicked(spent),
        Some(Err(_)) | None => RunOutcome::cancelled("the run was aborted").with_spent(spent),
    }
}

/// Returns the outcome of a run that panicked, and spent at least `spent`.
fn panicked(spent: BudgetUsage) -> RunOutcome {
    let failure = Failure::permanent("panicked", "the run panicked");
    RunOutcome::failed(failure).with_spent(spent)
}

impl fmt::Debug for MemberServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberServer")
            .field("folder", &self.folder)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}
