//! The process of a sub-harness, from the lock to the outcome.

use std::fmt;
use std::future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    Clock, Failure, InvalidValue, JobRunner, RunDesk, RunOutcome, RunSpec, Spent, SystemClock,
};
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use super::served::Served;
use crate::folder::FolderLock;
use crate::{FolderError, HarnessFolder};

/// How often it is tried to take the right to serve a folder.
const LOOKS: u32 = 100;

/// Between two tries.
const LOOK: Duration = Duration::from_millis(20);

/// Serves the folder of a sub-harness: carries out its order and listens to its files.
///
/// This is what the process of a sub-harness does, for example `autonoe harness work FOLDER`.
/// Two never serve one folder. Served again after a kill, the order is gone on with, in the next
/// epoch; one that has ended gives its outcome at once.
///
/// A process that a [`HarnessManager`](crate::HarnessManager) started has the marker of the folder and
/// hands it on to all that it launches. Before the outcome is written down, everything that has it is
/// ended. The outcome is safe before anybody is told.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{JobRunner, RunDesk, RunId, RunOutcome, RunSpec};
/// use autonoe_harness::{HarnessFolder, HarnessId, HarnessStatus, ServeOutcome, Serving};
/// use serde_json::json;
///
/// /// Gives back what it was given.
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl JobRunner for Echo {
///     async fn run(&self, run: &RunSpec, _: &RunDesk) -> RunOutcome {
///         RunOutcome::succeeded(run.input.clone())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = tempfile::tempdir()?;
/// let folder = HarnessFolder::of(root.path(), &HarnessId::new("a"))?;
/// folder.submit(&RunSpec::new(RunId::new("a"), "echo", json!("hello")))?;
///
/// let served = Serving::new(folder.clone(), Arc::new(Echo)).run().await?;
///
/// assert_eq!(served, ServeOutcome::Ended(RunOutcome::succeeded(json!("hello")).into()));
/// assert_eq!(folder.view()?.status, HarnessStatus::Completed);
/// # Ok(())
/// # }
/// ```
pub struct Serving {
    folder: HarnessFolder,
    runner: Arc<dyn JobRunner>,
    clock: Arc<dyn Clock>,
    every: Duration,
    patience: Duration,
    stop_patience: Duration,
    leave: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// How serving a folder ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ServeOutcome {
    /// The run has ended, now or before.
    Ended(Box<RunOutcome>),
    /// This process was to leave: the run has not ended, and can be served again.
    BrokenOff,
}

impl Serving {
    /// How often the folder is looked at if nothing else is said.
    pub const EVERY: Duration = Duration::from_secs(1);

    /// How long a run that was asked to end has for that, if nothing else is said.
    pub const STOP_PATIENCE: Duration = Duration::from_secs(30);

    /// Serves `folder` with what carries out its order.
    pub fn new(folder: HarnessFolder, runner: impl JobRunner + 'static) -> Self {
        Self {
            folder,
            runner: Arc::new(runner),
            clock: Arc::new(SystemClock),
            every: Self::EVERY,
            patience: Duration::from_secs(10),
            stop_patience: Self::STOP_PATIENCE,
            leave: Box::pin(future::pending()),
        }
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets how often the folder is looked at; every second by default.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// Sets how long a run that was asked to end has for that; 30 seconds by default. Then it is
    /// given up, with all that it started, and was cancelled.
    #[must_use]
    pub fn stop_within(mut self, patience: Duration) -> Self {
        self.stop_patience = patience;
        self
    }

    /// Says when this process has to leave, for example at a signal that tells it that its
    /// coordinator died: the run is cancelled, all that it started is ended, and it stays without
    /// an outcome unless it succeeds within the `patience`.
    #[must_use]
    pub fn until(
        mut self,
        leave: impl Future<Output = ()> + Send + 'static,
        patience: Duration,
    ) -> Self {
        self.leave = Box::pin(leave);
        self.patience = patience;
        self
    }

    /// Serves the folder until the run has ended.
    ///
    /// # Errors
    ///
    /// [`FolderError::Held`] by another process; the order or another file cannot be read or
    /// understood; what happened could not be written down, or the folder is gone. The run has no
    /// outcome then.
    pub async fn run(self) -> Result<ServeOutcome, FolderError> {
        let Self {
            folder,
            runner,
            clock,
            every,
            patience,
            stop_patience,
            mut leave,
        } = self;
        InvalidValue::check_time("every(0)", every)?;
        let order = folder.order()?;
        let _lock = lock(&folder, &*clock).await?;
        if let Some(outcome) = folder.outcome()? {
            return Ok(ServeOutcome::Ended(outcome.into()));
        }
        // In a process of its own: what that starts is found by the marker when it is killed. In one
        // that serves several, its marker is on nothing.
        folder.marker()?.hand_on();
        let mut served = Served::begin(folder, clock.clone())?;
        served.look()?;
        if served.stop().is_some() {
            let before = served.spent_before();
            return served
                .end(RunOutcome::cancelled("").with_spent(before))
                .await;
        }

        let (reports, mut reported) = watch::channel(None);
        let desk = RunDesk::new(served.control().clone(), move |progress| {
            reports.send_replace(Some(progress));
        });
        let mut work = start(runner, order, desk);
        let mut given_up: BoxFuture<'_, ()> = Box::pin(future::pending());
        let mut is_stopping = false;
        let woken = loop {
            let tick = clock.sleep(every);
            tokio::select! {
                biased;
                done = work.join_next() => break Woken::Done(Box::new(done)),
                () = &mut leave => break Woken::Leave,
                () = &mut given_up => break Woken::Stubborn,
                () = tick => {}
            }
            if !served.is_there() {
                break Woken::Homeless;
            }
            served.progressed(reported.borrow_and_update().clone());
            served.keep_looking();
            if served.stop().is_some() && !is_stopping {
                is_stopping = true;
                given_up = clock.sleep(stop_patience);
            }
        };
        let (is_done, is_homeless) = (
            matches!(woken, Woken::Done(_)),
            matches!(woken, Woken::Homeless),
        );
        let done = match woken {
            Woken::Done(done) => Some(*done),
            Woken::Stubborn => None,
            Woken::Leave | Woken::Homeless => {
                served.control().cancel();
                let over = clock.sleep(patience);
                tokio::select! {
                    biased;
                    done = work.join_next() => Some(done),
                    () = over => None,
                }
            }
        };
        // What it does from now on has no effect.
        work.shutdown().await;
        served.progressed(reported.borrow_and_update().clone());
        let outcome = done.map(|done| outcome_of(done, served.spent_and_more()));
        match outcome {
            _ if is_homeless => {
                served.sweep().await;
                Err(served.homeless())
            }
            Some(outcome) if is_done => served.end(outcome).await,
            // A success is one; anything else may come of being told to leave.
            Some(outcome) if outcome.is_success() => served.end(outcome).await,
            Some(outcome) if served.stop().is_some() => served.end(outcome).await,
            None if served.stop().is_some() => served.give_up().await,
            _ => served.break_off().await,
        }
    }
}

/// Takes the right to serve the folder. Who only looks whether somebody has it has it for a moment.
async fn lock(folder: &HarnessFolder, clock: &dyn Clock) -> Result<FolderLock, FolderError> {
    for _ in 0..LOOKS {
        match folder.lock_to_serve() {
            Err(FolderError::Held { .. }) => clock.sleep(LOOK).await,
            taken => return taken,
        }
    }
    folder.lock_to_serve()
}

/// Why the loop is left.
enum Woken {
    /// The run has ended.
    Done(Box<Option<Result<RunOutcome, JoinError>>>),
    /// This process is to leave.
    Leave,
    /// The run was asked to end and does not.
    Stubborn,
    /// The folder is gone.
    Homeless,
}

/// Starts the run; dropping what it returns ends it.
fn start(runner: Arc<dyn JobRunner>, order: RunSpec, desk: RunDesk) -> JoinSet<RunOutcome> {
    let mut work = JoinSet::new();
    work.spawn(async move { runner.run(&order, &desk).await });
    work
}

/// Says what became of the run, which spent at least `spent`. A panic is a failure.
fn outcome_of(done: Option<Result<RunOutcome, JoinError>>, spent: Spent) -> RunOutcome {
    match done {
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) if error.is_panic() => panicked(spent),
        Some(Err(_)) | None => RunOutcome::cancelled("the run was given up").with_spent(spent),
    }
}

/// What comes of a run that panicked, and spent at least `spent`.
pub(crate) fn panicked(spent: Spent) -> RunOutcome {
    let failure = Failure::permanent("panicked", "the run panicked");
    RunOutcome::failed(failure).with_spent(spent)
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("folder", &self.folder)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}
