//! Supervisor of one member: starts its process, and restarts it after a loss.

use std::convert::Infallible;
use std::future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::{JobRunner, RunOutcome};
use autonoe_core::event::Failure;
use autonoe_core::time::{Clock, Epoch, backoff};
use autonoe_process::{
    DetachedProcess, Exit, LaunchError, Process, ShutdownPolicy, StartedProcess, Stdout,
};
use tokio::io::AsyncReadExt;
use tokio::task::JoinSet;

use super::{MemberCommand, MemberLifetime};
use crate::folder::FolderLock;
use crate::folder::{FolderError, MemberFolder, MemberLog, MemberView};
use crate::handle::MemberHandle;
use crate::pluralize::pluralize;
use crate::serve::{MemberServer, ServeOutcome};

/// Time limit for killing remains of an earlier process.
const SWEEP: Duration = Duration::from_secs(10);

/// Time that a new process has to serve its folder before others may start one.
const START: Duration = Duration::from_secs(60);

/// Time that a task has to end after its run has an outcome, which another process may have
/// recorded.
const MOMENT: Duration = Duration::from_secs(1);

/// Maximum number of times that the system may refuse to start a process because it is overloaded.
const REFUSALS: u32 = 6;

/// Delay after the first refusal; it doubles with each.
const PAUSE: Duration = Duration::from_millis(500);

/// Poll interval while waiting for the process to serve its folder.
const SOON: Duration = Duration::from_millis(20);

/// State shared by the manager and its supervisors.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) root: PathBuf,
    pub(super) workers: Workers,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) every: Duration,
    pub(super) restarts: u32,
    pub(super) kill_after: Duration,
}

/// Executes the members.
#[derive(Clone)]
pub(super) enum Workers {
    /// A process per member.
    Program(MemberCommand),
    /// A task of this process per member.
    InProcess(Arc<dyn JobRunner>),
}

/// Supervises one member until it has ended: starts its process, and restarts it after a loss.
pub(super) struct Supervisor {
    shared: Arc<Shared>,
    folder: MemberFolder,
    /// Number of lost processes.
    losses: u32,
    /// Number of refused starts.
    refusals: u32,
    /// Last line of stderr of the last lost process.
    last_stderr_line: Option<String>,
}

/// A process that was started.
enum Child {
    Tied(Process, Stdout),
    Detached(DetachedProcess),
    Task(JoinSet<Result<ServeOutcome, FolderError>>),
}

impl Supervisor {
    pub(super) fn new(shared: Arc<Shared>, folder: MemberFolder, losses: u32) -> Self {
        Self {
            shared,
            folder,
            losses,
            refusals: 0,
            last_stderr_line: None,
        }
    }

    /// Returns the outcome of the member. Kills it if it does not end after a stop request.
    pub(super) async fn run(self) -> Result<RunOutcome, FolderError> {
        let (shared, folder) = (self.shared.clone(), self.folder.clone());
        tokio::select! {
            biased;
            ended = self.supervise() => ended,
            never = kill_when_overdue(shared, folder) => match never {},
        }
    }

    async fn supervise(mut self) -> Result<RunOutcome, FolderError> {
        loop {
            let view = match self.folder.view() {
                Err(error) if !self.is_stopping()? => return Err(error),
                // The stop request is known, also to the process that serves the member.
                Err(_) if self.folder.is_served()? => {
                    self.shared.clock.sleep(self.shared.every).await;
                    continue;
                }
                Err(_) => {
                    let Ok(_lock) = self.folder.lock_to_start() else {
                        self.shared.clock.sleep(self.shared.every).await;
                        continue;
                    };
                    return self.stop_unreadable().await;
                }
                Ok(view) => view,
            };
            if let Some(outcome) = view.outcome {
                return Ok(outcome);
            }
            // Another manager has started it, or does so now.
            if view.pid.is_some() {
                self.shared.clock.sleep(self.shared.every).await;
                continue;
            }
            match self.folder.lock_to_start() {
                Ok(lock) => self.start_process(lock).await?,
                Err(FolderError::Held { .. }) => {
                    self.shared.clock.sleep(self.shared.every).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn is_stopping(&self) -> Result<bool, FolderError> {
        Ok(self.folder.stop_requested()?.is_some())
    }

    /// Ends a member whose status cannot be read. Its spending is unknown.
    async fn stop_unreadable(&self) -> Result<RunOutcome, FolderError> {
        let mut view = MemberView::pending(self.folder.id().clone());
        view.epoch = Epoch(1);
        view.stopping = self.folder.stop_requested()?;
        let left = self.sweep().await?;
        let outcome = self.verdict(&view, left);
        let cancelled = || RunOutcome::cancelled("").with_spent(view.spending_lower_bound());
        self.record_outcome(&outcome.unwrap_or_else(cancelled))
    }

    /// Starts a process and waits for its end, or records an outcome without one.
    async fn start_process(&mut self, lock: FolderLock) -> Result<(), FolderError> {
        // Another manager may have held the lock before.
        let view = self.folder.view()?;
        if view.outcome.is_some() || view.pid.is_some() {
            return Ok(());
        }
        let left = self.sweep().await?;
        if let Some(outcome) = self.verdict(&view, left) {
            self.record_outcome(&outcome)?;
            return Ok(());
        }
        let child = match self.start().await {
            Ok(child) => child,
            Err(error) if is_transient(&error) && self.refusals < REFUSALS => {
                self.refusals += 1;
                self.log(&format!("warning: starting the process again: {error}"));
                // No other manager starts it in the meantime: the lock is held.
                let pause = backoff(PAUSE, Duration::MAX, self.refusals);
                self.shared.clock.sleep(pause).await;
                return Ok(());
            }
            Err(error) => {
                let message = format!("cannot start the process of the member: {error}");
                let failure = Failure::permanent(error.code(), message);
                let failed = RunOutcome::failed(failure).with_spent(view.spending_lower_bound());
                self.record_outcome(&failed)?;
                return Ok(());
            }
        };
        let (exit, complaints) = child
            .wait_for_exit(self.serving(view.epoch, lock), self.settled())
            .await;
        let ended = self.folder.outcome()?.is_some();
        if !ended {
            self.losses += 1;
            self.last_stderr_line = complaints.lines().last().map(str::to_owned);
        }
        if !ended || !exit.is_success() {
            self.log(&format!("the process {exit}"));
            for line in complaints.lines() {
                self.log(&format!("standard error: {line}"));
            }
        }
        Ok(())
    }

    /// Returns the outcome of the run, if no process is to be started.
    fn verdict(&self, view: &MemberView, left: usize) -> Option<RunOutcome> {
        if let Some(reason) = &view.stopping {
            let cancelled = RunOutcome::cancelled(reason.clone());
            return Some(cancelled.with_spent(view.spending_lower_bound()));
        }
        if left > 0 {
            let message = format!("{left} of its processes are still running and cannot be killed");
            let failure = Failure::permanent("harness_left_processes", message);
            return Some(RunOutcome::failed(failure).with_spent(view.spending_lower_bound()));
        }
        if self.losses > self.shared.restarts {
            let mut message = format!(
                "its process was lost in epoch {}, and it has at most {}",
                view.epoch.0,
                pluralize(self.shared.restarts as usize, "restart")
            );
            if let Some(last_stderr_line) = &self.last_stderr_line {
                message.push_str(&format!("; its last error output: {last_stderr_line}"));
            }
            let failure = Failure::retryable("harness_lost", message);
            return Some(RunOutcome::failed(failure).with_spent(view.spending_lower_bound()));
        }
        None
    }

    async fn start(&self) -> Result<Child, LaunchError> {
        let program = match &self.shared.workers {
            Workers::Program(program) => program,
            Workers::InProcess(runner) => return Ok(self.task(runner.clone())),
        };
        let unmarked = |error: Box<dyn std::error::Error + Send + Sync>| LaunchError::System {
            program: self.folder.path().to_owned(),
            source: std::io::Error::other(error),
        };
        let marker = self
            .folder
            .marker()
            .map_err(|error| unmarked(error.into()))?;
        let order = self
            .folder
            .order()
            .map_err(|error| unmarked(error.into()))?;
        let launch = program.launch(&self.folder, &order, &marker);
        let launch = launch.map_err(|error| unmarked(error.into()))?;
        match program.member_lifetime {
            MemberLifetime::BoundToManager => {
                let StartedProcess {
                    process, stdout, ..
                } = launch.start().await?;
                Ok(Child::Tied(process, stdout))
            }
            MemberLifetime::Outlives => Ok(Child::Detached(launch.start_detached().await?)),
        }
    }

    fn task(&self, runner: Arc<dyn JobRunner>) -> Child {
        let Shared { clock, every, .. } = &*self.shared;
        let serving = MemberServer::new(self.folder.clone(), runner)
            .clock(clock.clone())
            .every(*every);
        let mut task = JoinSet::new();
        task.spawn(serving.run());
        Child::Task(task)
    }

    /// Holds the lock until the process serves the folder, so that no other manager starts one.
    async fn serving(&self, before: Epoch, lock: FolderLock) {
        let clock = &self.shared.clock;
        let is_served = async {
            loop {
                let state = self.folder.state();
                if state.is_ok_and(|state| state.is_some_and(|state| state.epoch > before)) {
                    return;
                }
                clock.sleep(SOON).await;
            }
        };
        tokio::select! {
            () = is_served => {}
            () = clock.sleep(START) => tracing::warn!("a member process does not start serving"),
        }
        drop(lock);
    }

    /// Waits until the run has an outcome, and then for its task to end by itself.
    async fn settled(&self) {
        let Shared { clock, every, .. } = &*self.shared;
        while !matches!(self.folder.outcome(), Ok(Some(_))) {
            clock.sleep(*every).await;
        }
        clock.sleep(MOMENT).await;
    }

    /// Kills remains of an earlier process, and returns the number of survivors.
    async fn sweep(&self) -> Result<usize, FolderError> {
        let marker = self.folder.marker()?;
        let swept = tokio::task::spawn_blocking(move || marker.kill_all(SWEEP)).await;
        Ok(swept.map_or(1, |swept| swept.left.len()))
    }

    fn record_outcome(&self, outcome: &RunOutcome) -> Result<RunOutcome, FolderError> {
        self.folder.record_outcome(outcome, self.shared.clock.now())
    }

    fn log(&self, line: &str) {
        match MemberLog::open(&self.folder) {
            Ok(mut log) => log.line(self.shared.clock.now(), line),
            Err(error) => tracing::warn!(%error, line, "cannot write the log of a member"),
        }
    }
}

/// Waits for a stop request, gives the member time to end, and kills it with its process tree. The
/// supervisor sees the outcome.
async fn kill_when_overdue(shared: Arc<Shared>, folder: MemberFolder) -> Infallible {
    let Shared { clock, every, .. } = &*shared;
    while !matches!(folder.stop_requested(), Ok(Some(_))) {
        clock.sleep(*every).await;
    }
    clock.sleep(shared.kill_after).await;
    loop {
        let killed = match MemberHandle::open(folder.clone()) {
            Ok(handle) => {
                let handle = handle.clock(clock.clone()).every(*every);
                handle.kill(Duration::ZERO).await.map(|_| ())
            }
            Err(error) => Err(error),
        };
        match killed {
            Ok(()) => return future::pending().await,
            Err(error) => tracing::error!(%error, "cannot kill a member"),
        }
        clock.sleep(shared.kill_after).await;
    }
}

impl Child {
    /// Waits for the end of the process, kills its remains, and returns the end of its stderr.
    async fn wait_for_exit(
        self,
        serving: impl Future<Output = ()>,
        settled: impl Future<Output = ()>,
    ) -> (Exit, String) {
        match self {
            Self::Detached(process) => {
                let exit = run_until(serving, process.exited()).await;
                (exit, String::new())
            }
            Self::Task(mut task) => {
                let served = async {
                    match task.join_next().await {
                        Some(Ok(Ok(_))) => (Exit::Code(0), String::new()),
                        Some(Ok(Err(error))) => (Exit::Unknown, error.to_string()),
                        _ => (Exit::Unknown, "its task panicked".to_owned()),
                    }
                };
                tokio::select! {
                    biased;
                    served = run_until(serving, served) => served,
                    // Dropping the task ends it.
                    () = settled => (Exit::Unknown, "its task was killed".to_owned()),
                }
            }
            Self::Tied(process, mut stdout) => {
                let others = async { tokio::join!(serving, drain(&mut stdout)) };
                let exit = run_until(others, process.exited()).await;
                let end = process.shutdown(ShutdownPolicy::kill_at_once()).await;
                (exit, end.stderr_tail)
            }
        }
    }
}

/// Returns whether the same start may succeed a little later: the system has too many processes or
/// open files or no memory, or the program file is being written.
pub(crate) fn is_transient(error: &LaunchError) -> bool {
    // ENFILE and EMFILE: too many open files of the system, and of this process. Rust has no error
    // kind for them.
    const TOO_MANY_FILES: [i32; 2] = [23, 24];
    let LaunchError::System { source, .. } = error else {
        return false;
    };
    let is_named = matches!(
        source.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::OutOfMemory
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ExecutableFileBusy
    );
    let number = source.raw_os_error();
    is_named || number.is_some_and(|number| TOO_MANY_FILES.contains(&number))
}

/// Waits for `exited`, and runs `others` in the meantime.
async fn run_until<O, T>(others: impl Future<Output = O>, exited: impl Future<Output = T>) -> T {
    let others = async {
        others.await;
        future::pending().await
    };
    tokio::select! {
        biased;
        exit = exited => exit,
        never = others => never,
    }
}

/// Reads and drops stdout: a process blocks once its pipe is full.
async fn drain(stdout: &mut Stdout) {
    let mut piece = vec![0; 8 * 1024];
    while let Ok(1..) = stdout.read(&mut piece).await {}
}
