//! [`Keeper`], the thread that owns a child: reads its standard error, waits for its exit, and
//! shuts it down.
//!
//! The thread needs no runtime. A child is therefore ended in the same way when it is shut down,
//! when its handle is dropped in a panic, and when the future that shuts it down is dropped
//! halfway.

mod watch;

use std::io::{self, PipeReader, PipeWriter};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::process::{Pid, Signal};
use tokio::sync::oneshot;

use self::watch::{Watch, WatchEvent};
use crate::exit::PendingShutdown;
use crate::identity::RegisteredChild;
use crate::process_tree::{BETWEEN_ROUNDS, EmptyScans, ProcessTree};
use crate::shutdown_policy::{Deadline, ProcessInfo};
use crate::table::Row;
use crate::{EndedBy, Exit, Launch, SessionFolder, ShutdownAction, ShutdownPolicy, ShutdownReport};

pub(crate) use watch::Shared;

/// A spawned child, as its keeper receives it.
#[derive(Debug)]
pub(crate) struct Spawned {
    /// The supervisor of the child, or the child itself if it has none.
    pub(crate) child: Child,
    /// The child.
    pub(crate) pid: Pid,
    /// The pipe with the exit of the child. Closing it ends the supervisor.
    pub(crate) exit: PipeReader,
    pub(crate) folder: Option<SessionFolder>,
}

/// Owns one child.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// The supervisor of the child, or the child itself if it has none.
    spawned: Child,
    process_tree: ProcessTree,
    exit: Option<Exit>,
    watch: Watch,
    shared: Arc<Shared>,
    requests: Receiver<ShutdownRequest>,
    /// The policy for a dropped handle.
    policy: ShutdownPolicy,
    folder: Option<SessionFolder>,
}

impl Keeper {
    /// Starts the thread, which owns the child that is sent to it, and the child's folder.
    pub(crate) fn start(
        launch: Launch,
        shared: Arc<Shared>,
        lifeline_receiver: LifelineReceiver,
    ) -> io::Result<Sender<Spawned>> {
        let (spawned_tx, spawned_rx) = channel::<Spawned>();
        let Launch { marker, policy, .. } = launch;
        let span = tracing::Span::current();
        // Register before the child starts, and not in this thread: `kill_all_children` must find
        // every child that was started.
        let living = RegisteredChild::register(marker.clone());
        let run_keeper = move || {
            let _living = living;
            // If there is no child, its start has failed.
            let Ok(Spawned {
                child: mut spawned,
                pid,
                exit,
                folder,
            }) = spawned_rx.recv()
            else {
                return;
            };
            let watch = Watch::new(spawned.stderr.take(), exit, lifeline_receiver.pipe);
            let mut process_tree = ProcessTree::new(pid, marker);
            if Pid::from_child(&spawned) != pid {
                process_tree.set_supervisor(Pid::from_child(&spawned));
            }
            let keeper = Self {
                spawned,
                process_tree,
                exit: None,
                watch,
                shared,
                requests: lifeline_receiver.requests,
                policy,
                folder,
            };
            span.in_scope(|| keeper.run());
        };
        thread::Builder::new()
            .name("process-keeper".into())
            .spawn(run_keeper)?;
        Ok(spawned_tx)
    }

    fn run(mut self) {
        while let WatchEvent::Exit(exit) = self.watch.wait_until(Deadline::NEVER, &self.shared) {
            self.record_exit(exit);
        }
        let request = self.requests.try_recv();
        let request = request.unwrap_or_else(|_| ShutdownRequest::on_drop());
        let policy = request.policy.unwrap_or_else(|| self.policy.clone());

        let report = self.shutdown(&policy);
        let is_complete = report.is_complete();
        if is_complete {
            self.release();
        }
        // The receiver may be dropped.
        let _ = request.reply.map(|reply| reply.send(report));
        drop(request.pending);

        // Keep waiting for a process that survived even a kill.
        if !is_complete {
            while self.exit.is_none() {
                if let WatchEvent::Exit(exit) = self.watch.wait_until(Deadline::NEVER, &self.shared)
                {
                    self.record_exit(exit);
                }
            }
            self.release();
        }
    }

    fn record_exit(&mut self, exit: Exit) {
        if exit == Exit::Unknown {
            self.process_tree.forget_child();
            // If the supervisor was killed, the child may still run. Its process tree is recorded
            // here.
            self.process_tree.scan();
        }
        self.exit = Some(exit);
        self.shared.exit.send_replace(Some(exit));
    }

    /// Ends the supervisor, which releases the process ID of the child, and removes the folder of
    /// the child.
    fn release(&mut self) {
        self.watch.close_exit();
        // An error means that it was reaped already.
        let _ = self.spawned.wait();
        self.process_tree.forget_child();
        drop(self.folder.take());
    }
}

/// The request to end a child.
#[derive(Debug)]
pub(crate) struct ShutdownRequest {
    /// `None` for the policy of the launch.
    pub(crate) policy: Option<ShutdownPolicy>,
    pub(crate) reply: Option<oneshot::Sender<ShutdownReport>>,
    /// Counts the child among the pending shutdowns.
    pub(crate) pending: PendingShutdown,
}

impl ShutdownRequest {
    /// Creates the request that is used when the handle is dropped without one.
    fn on_drop() -> Self {
        Self {
            policy: None,
            reply: None,
            pending: PendingShutdown::start(),
        }
    }
}

/// The end of the connection that the handle of a child holds. Dropping it ends the child.
#[derive(Debug)]
pub(crate) struct Lifeline {
    /// `None` after the request was sent.
    requests: Option<Sender<ShutdownRequest>>,
    /// Nothing is ever written to it. Closing it wakes the keeper from any wait.
    _pipe: PipeWriter,
}

/// The end of the connection that the keeper holds.
#[derive(Debug)]
pub(crate) struct LifelineReceiver {
    requests: Receiver<ShutdownRequest>,
    /// Closed at the other end after the request was sent.
    pipe: PipeReader,
}

impl Lifeline {
    pub(crate) fn new() -> io::Result<(Self, LifelineReceiver)> {
        let (requests, received) = channel();
        let (pipe, writer) = io::pipe()?;
        let lifeline_receiver = LifelineReceiver {
            requests: received,
            pipe,
        };
        let lifeline = Self {
            requests: Some(requests),
            _pipe: writer,
        };
        Ok((lifeline, lifeline_receiver))
    }

    /// Ends the child by `policy`, and returns the receiver of the report.
    pub(crate) fn end(mut self, policy: ShutdownPolicy) -> oneshot::Receiver<ShutdownReport> {
        let (reply, report) = oneshot::channel();
        self.send(ShutdownRequest {
            policy: Some(policy),
            reply: Some(reply),
            pending: PendingShutdown::start(),
        });
        report
    }

    fn send(&mut self, request: ShutdownRequest) {
        if let Some(requests) = self.requests.take() {
            // A keeper that has ended drops the request and its reply channel.
            let _ = requests.send(request);
        }
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        if self.requests.is_some() {
            self.send(ShutdownRequest::on_drop());
        }
    }
}

impl Keeper {
    /// Ends the child by the steps of `policy`, and kills the remaining processes.
    fn shutdown(&mut self, policy: &ShutdownPolicy) -> ShutdownReport {
        let mut ended_by = match self.exit {
            Some(_) => EndedBy::Itself,
            None => self.run_steps(policy),
        };
        // A blocked writer must not wait for a reader.
        self.shared.stdin.close();
        let left = self.kill_the_rest(policy);
        if ended_by == EndedBy::Nothing && self.exit.is_some() {
            ended_by = EndedBy::Kill;
        }
        self.watch.read_rest(&self.shared);

        let report = ShutdownReport {
            exit: self.exit,
            ended_by,
            killed: self.process_tree.killed(),
            left,
            stderr_tail: self.shared.stderr().text(),
        };
        log_report(&report);
        report
    }

    fn run_steps(&mut self, policy: &ShutdownPolicy) -> EndedBy {
        for step in policy.steps() {
            // As long as the child is alive, all its descendants can be found. Processes that lose
            // their parent in this step are remembered.
            self.process_tree.scan();
            match step.action {
                ShutdownAction::CloseStdin => self.shared.stdin.close(),
                ShutdownAction::Signal(signal) => self.signal(signal.to_system()),
            }
            self.wait_for_exit(Deadline::after(step.wait));
            if self.exit.is_some() {
                return EndedBy::Step(step.action);
            }
        }
        EndedBy::Nothing
    }

    /// Kills until no process is left or the limit has passed, and returns the remaining processes.
    fn kill_the_rest(&mut self, policy: &ShutdownPolicy) -> Vec<ProcessInfo> {
        let deadline = Deadline::after(policy.kill_limit());
        let mut clean = EmptyScans::default();
        loop {
            if self.exit.is_some() && self.process_tree.is_proven_empty() {
                return Vec::new();
            }
            let alive = self.process_tree.scan();
            let is_empty = alive.is_empty() && self.exit.is_some();
            if clean.record(is_empty) {
                return Vec::new();
            }
            // A stopped supervisor reports nothing.
            self.process_tree.continue_supervisor();
            // The child is first, because it could start its tools again.
            self.signal(Signal::KILL);
            self.process_tree.kill_group_of_child();
            self.process_tree.kill(&alive);
            if deadline.has_passed() {
                return alive.iter().map(Row::info).collect();
            }
            self.wait_for_exit(deadline.or_after(BETWEEN_ROUNDS));
        }
    }

    fn wait_for_exit(&mut self, deadline: Deadline) {
        if let WatchEvent::Exit(exit) = self.watch.wait_until(deadline, &self.shared) {
            self.record_exit(exit);
        }
    }

    /// Sends `signal` to the child, if it is alive.
    fn signal(&self, signal: Signal) {
        // The child is not reaped yet, so its process ID is not reused.
        if self.exit.is_none()
            && let Err(error) = self.process_tree.signal(self.shared.signal_target, signal)
        {
            tracing::warn!(%error, "a signal could not be sent to a child process");
        }
    }
}

fn log_report(report: &ShutdownReport) {
    let ShutdownReport {
        exit,
        ended_by,
        killed,
        left,
        ..
    } = report;
    if report.is_complete() && killed.is_empty() {
        tracing::debug!(?exit, ?ended_by, "a child process exited");
    } else if report.is_complete() {
        tracing::info!(
            ?exit,
            ?ended_by,
            ?killed,
            "a child process exited, and its remaining processes were killed"
        );
    } else {
        tracing::error!(
            ?exit,
            ?ended_by,
            ?killed,
            ?left,
            "some processes of a child process are still running"
        );
    }
}
