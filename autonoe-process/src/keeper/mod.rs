//! [`Keeper`], the thread that owns a child: reads its standard error, waits for its exit, and
//! shuts it down.
//!
//! The thread needs no runtime. A child is therefore ended in the same way when it is shut down,
//! when its handle is dropped in a panic, and when the future that shuts it down is dropped
//! halfway.

mod lifeline;
mod shutdown;
mod watch;

pub(crate) use lifeline::Lifeline;
pub(crate) use watch::Shared;

use std::io::{self, PipeReader};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::process::Pid;

use self::lifeline::{LifelineReceiver, ShutdownRequest};
use self::watch::{Watch, WatchEvent};
use crate::identity::RegisteredChild;
use crate::process_tree::ProcessTree;
use crate::shutdown_policy::Deadline;
use crate::{Exit, Launch, SessionFolder, ShutdownPolicy};

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
    orders: Receiver<ShutdownRequest>,
    /// The ladder for a dropped handle.
    policy: ShutdownPolicy,
    folder: Option<SessionFolder>,
}

impl Keeper {
    /// Starts the thread, which owns the child that is sent to it, and the child's folder.
    pub(crate) fn start(
        launch: Launch,
        shared: Arc<Shared>,
        hang_up: LifelineReceiver,
    ) -> io::Result<Sender<Spawned>> {
        let (spawned_tx, spawned_rx) = channel::<Spawned>();
        let Launch { marker, ladder, .. } = launch;
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
            let watch = Watch::new(spawned.stderr.take(), exit, hang_up.pipe);
            let mut family = ProcessTree::new(pid, marker);
            if Pid::from_child(&spawned) != pid {
                family.set_supervisor(Pid::from_child(&spawned));
            }
            let keeper = Self {
                spawned,
                process_tree: family,
                exit: None,
                watch,
                shared,
                orders: hang_up.orders,
                policy: ladder,
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
        let order = self.orders.try_recv();
        let order = order.unwrap_or_else(|_| ShutdownRequest::on_drop());
        let ladder = order.ladder.unwrap_or_else(|| self.policy.clone());

        let report = self.shutdown(&ladder);
        let is_complete = report.is_complete();
        if is_complete {
            self.release();
        }
        // The receiver may be dropped.
        let _ = order.reply.map(|reply| reply.send(report));
        drop(order.pending);

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
