//! Who looks after one sub-harness until it has ended.

use std::convert::Infallible;
use std::future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Epoch, Failure, JobRunner, RunOutcome};
use autonoe_process::{Exit, Ladder, LaunchError, Outliving, Process, Started, Stdout};
use tokio::io::AsyncReadExt;
use tokio::task::JoinSet;

use super::Survival;
use super::harness_manager::{Shared, Workers};
use crate::folder::FolderLock;
use crate::words::counted;
use crate::{
    FolderError, HarnessFolder, HarnessHandle, HarnessLog, HarnessView, ProcessHandle,
    ServeOutcome, Serving,
};

/// How long it is tried at most to end what an earlier process has left.
const SWEEP: Duration = Duration::from_secs(10);

/// How long a process has to take its folder before others may start one.
const START: Duration = Duration::from_secs(60);

/// How long a task has to end once its run has an outcome: somebody else may have said what that is.
const MOMENT: Duration = Duration::from_secs(1);

/// How often the system may refuse to start a process because it has too much to do.
const REFUSALS: u32 = 6;

/// The pause after the first refusal; it doubles with each.
const PAUSE: Duration = Duration::from_millis(500);

/// How often it is looked whether it has.
const SOON: Duration = Duration::from_millis(20);

/// Looks after one sub-harness until it has ended: starts its process, and another if that is lost.
pub(super) struct Attendant {
    shared: Arc<Shared>,
    folder: HarnessFolder,
    /// How many of its processes were lost.
    losses: u32,
    /// How often the system refused to start one.
    refusals: u32,
    /// What the last of them complained of.
    complaint: Option<String>,
}

/// A process that was started.
enum Child {
    Tied(Process, Stdout),
    Outliving(Outliving),
    Task(JoinSet<Result<ServeOutcome, FolderError>>),
}

impl Attendant {
    pub(super) fn new(shared: Arc<Shared>, folder: HarnessFolder, losses: u32) -> Self {
        Self {
            shared,
            folder,
            losses,
            refusals: 0,
            complaint: None,
        }
    }

    /// Looks after it, and kills it if it was asked to end and does not.
    pub(super) async fn attend_or_kill(self) -> Result<RunOutcome, FolderError> {
        let (shared, folder) = (self.shared.clone(), self.folder.clone());
        tokio::select! {
            biased;
            ended = self.attend() => ended,
            never = kill_when_overdue(shared, folder) => match never {},
        }
    }

    async fn attend(mut self) -> Result<RunOutcome, FolderError> {
        loop {
            let view = match self.folder.view() {
                Err(error) if !self.is_stopping()? => return Err(error),
                // That it is to end is known, and who serves it knows that, too.
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
            // Somebody else has started it, or does so now.
            if view.pid.is_some() {
                self.shared.clock.sleep(self.shared.every).await;
                continue;
            }
            match self.folder.lock_to_start() {
                Ok(lock) => self.take_up(lock).await?,
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

    /// Ends one whose status cannot be read. What it spent is unknown.
    async fn stop_unreadable(&self) -> Result<RunOutcome, FolderError> {
        let mut view = HarnessView::pending(self.folder.id().clone());
        view.epoch = Epoch(1);
        view.stopping = self.folder.stop_requested()?;
        let left = self.sweep().await?;
        let outcome = self.verdict(&view, left);
        let given_up = || RunOutcome::cancelled("").with_spent(view.spent_and_more());
        self.folder.settle(&outcome.unwrap_or_else(given_up))
    }

    /// Starts a process and waits for its end, or says what the run came to without one.
    async fn take_up(&mut self, lock: FolderLock) -> Result<(), FolderError> {
        // Before the lock was taken, somebody else may have had it.
        let view = self.folder.view()?;
        if view.outcome.is_some() || view.pid.is_some() {
            return Ok(());
        }
        let left = self.sweep().await?;
        if let Some(outcome) = self.verdict(&view, left) {
            self.folder.settle(&outcome)?;
            return Ok(());
        }
        let child = match self.start().await {
            Ok(child) => child,
            Err(error) if may_pass(&error) && self.refusals < REFUSALS => {
                self.refusals += 1;
                self.log(&format!("warning: it is started again, because {error}"));
                // Nobody else starts it meanwhile: the lock is held.
                let pause = PAUSE * 2_u32.saturating_pow(self.refusals - 1);
                self.shared.clock.sleep(pause).await;
                return Ok(());
            }
            Err(error) => {
                let message = format!("the program of the sub-harness: {error}");
                let failure = Failure::permanent(error.code(), message);
                let failed = RunOutcome::failed(failure).with_spent(view.spent_and_more());
                self.folder.settle(&failed)?;
                return Ok(());
            }
        };
        let (exit, complaints) = child
            .accompany(self.serving(view.epoch, lock), self.settled())
            .await;
        let ended = self.folder.outcome()?.is_some();
        if !ended {
            self.losses += 1;
            self.complaint = complaints.lines().last().map(str::to_owned);
        }
        if !ended || !exit.is_success() {
            self.log(&format!("the process {exit}"));
            for line in complaints.lines() {
                self.log(&format!("standard error: {line}"));
            }
        }
        Ok(())
    }

    /// Says what the run came to, if no process is to be started.
    fn verdict(&self, view: &HarnessView, left: usize) -> Option<RunOutcome> {
        if let Some(reason) = &view.stopping {
            let cancelled = RunOutcome::cancelled(reason.clone());
            return Some(cancelled.with_spent(view.spent_and_more()));
        }
        if left > 0 {
            let message = format!("{left} processes of it live on and cannot be killed");
            let failure = Failure::permanent("harness_left_processes", message);
            return Some(RunOutcome::failed(failure).with_spent(view.spent_and_more()));
        }
        if self.losses > self.shared.restarts {
            let mut message = format!(
                "its process was lost in epoch {}, and it has no more than {}",
                view.epoch.0,
                counted(self.shared.restarts as usize, "restart")
            );
            if let Some(complaint) = &self.complaint {
                message.push_str(&format!("; it complained: {complaint}"));
            }
            let failure = Failure::retryable("harness_lost", message);
            return Some(RunOutcome::failed(failure).with_spent(view.spent_and_more()));
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
        match program.survival {
            Survival::DiesWithManager => {
                let Started {
                    process, stdout, ..
                } = launch.start().await?;
                Ok(Child::Tied(process, stdout))
            }
            Survival::Outlives => Ok(Child::Outliving(launch.start_outliving().await?)),
        }
    }

    fn task(&self, runner: Arc<dyn JobRunner>) -> Child {
        let Shared { clock, every, .. } = &*self.shared;
        let serving = Serving::new(self.folder.clone(), runner)
            .clock(clock.clone())
            .every(*every);
        let mut task = JoinSet::new();
        task.spawn(serving.run());
        Child::Task(task)
    }

    /// Holds the lock until the process serves the folder, so that nobody starts another one.
    async fn serving(&self, before: Epoch, lock: FolderLock) {
        let clock = &self.shared.clock;
        let begun = async {
            loop {
                let state = self.folder.state();
                if state.is_ok_and(|state| state.is_some_and(|state| state.epoch > before)) {
                    return;
                }
                clock.sleep(SOON).await;
            }
        };
        tokio::select! {
            () = begun => {}
            () = clock.sleep(START) => tracing::warn!("a sub-harness does not take its folder"),
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

    /// Ends what an earlier process has left, and returns how many cannot be.
    async fn sweep(&self) -> Result<usize, FolderError> {
        let marker = self.folder.marker()?;
        let swept = tokio::task::spawn_blocking(move || marker.kill_all(SWEEP)).await;
        Ok(swept.map_or(1, |swept| swept.left.len()))
    }

    fn log(&self, line: &str) {
        match HarnessLog::open(&self.folder) {
            Ok(mut log) => log.line(self.shared.clock.now(), line),
            Err(error) => tracing::warn!(%error, line, "the log of a sub-harness"),
        }
    }
}

/// Waits until it was asked to end, gives it time, and kills it with all that it started. An
/// attendant sees what came of that.
async fn kill_when_overdue(shared: Arc<Shared>, folder: HarnessFolder) -> Infallible {
    let Shared { clock, every, .. } = &*shared;
    while !matches!(folder.stop_requested(), Ok(Some(_))) {
        clock.sleep(*every).await;
    }
    clock.sleep(shared.kill_after).await;
    loop {
        let killed = match ProcessHandle::open(folder.clone()) {
            Ok(handle) => {
                let handle = handle.clock(clock.clone()).every(*every);
                handle.kill(Duration::ZERO).await.map(|_| ())
            }
            Err(error) => Err(error),
        };
        match killed {
            Ok(()) => return future::pending().await,
            Err(error) => tracing::error!(%error, "a sub-harness cannot be killed"),
        }
        clock.sleep(shared.kill_after).await;
    }
}

impl Child {
    /// Waits for the end of the process, ends what it has left, and returns what it complained of.
    async fn accompany(
        self,
        serving: impl Future<Output = ()>,
        settled: impl Future<Output = ()>,
    ) -> (Exit, String) {
        match self {
            Self::Outliving(process) => {
                let exit = beside(serving, process.exited()).await;
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
                    served = beside(serving, served) => served,
                    // Dropping it ends it.
                    () = settled => (Exit::Unknown, "its task was killed".to_owned()),
                }
            }
            Self::Tied(process, mut stdout) => {
                let others = async { tokio::join!(serving, drain(&mut stdout)) };
                let exit = beside(others, process.exited()).await;
                let end = process.shut_down(Ladder::kill_at_once()).await;
                (exit, end.stderr_tail)
            }
        }
    }
}

/// Tells whether the same start may succeed a little later: the system has too many processes or open
/// files or no memory, or somebody still writes the program.
pub(crate) fn may_pass(error: &LaunchError) -> bool {
    // Too many open files of the system, and of this process: they have no name in Rust.
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

/// Waits for `exited`, and does `others` meanwhile.
async fn beside<O, T>(others: impl Future<Output = O>, exited: impl Future<Output = T>) -> T {
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

/// What nobody listens to would wait for ever once its pipe is full.
async fn drain(stdout: &mut Stdout) {
    let mut piece = vec![0; 8 * 1024];
    while let Ok(1..) = stdout.read(&mut piece).await {}
}
