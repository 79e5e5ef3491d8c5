//! The thread that keeps a child: reads what it complains about, sees its end, ends it.
//!
//! It needs no runtime and nobody's attention, so a child is ended in the same way when
//! it is shut down, when its handle is dropped in a panic, and when the future that shuts
//! it down is dropped halfway.

mod descend;
mod lifeline;
mod watch;

pub(crate) use lifeline::Lifeline;
pub(crate) use watch::Shared;

use std::io::{self, PipeReader};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::process::Pid;

use self::lifeline::{HangUp, Order};
use self::watch::{Seen, Watch};
use crate::family::Family;
use crate::identity::Living;
use crate::ladder::Deadline;
use crate::{Exit, Ladder, Launch, SessionFolder};

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

/// Keeps one child.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// The supervisor of the child, or the child itself if it has none.
    spawned: Child,
    family: Family,
    exit: Option<Exit>,
    watch: Watch,
    shared: Arc<Shared>,
    orders: Receiver<Order>,
    /// What is done when nobody says how to end the child.
    ladder: Ladder,
    folder: Option<SessionFolder>,
}

impl Keeper {
    /// Starts the thread, which keeps the child that is sent to it, and the child's folder.
    pub(crate) fn start(
        launch: Launch,
        shared: Arc<Shared>,
        hang_up: HangUp,
    ) -> io::Result<Sender<Spawned>> {
        let (hand_over, handed_over) = channel::<Spawned>();
        let Launch { marker, ladder, .. } = launch;
        let span = tracing::Span::current();
        // Before the child, and not when this thread comes to it: whoever kills everything must
        // find every child that was started.
        let living = Living::begin(marker.clone());
        let keep = move || {
            let _living = living;
            // Without a child, its start has failed.
            let Ok(Spawned {
                child: mut spawned,
                pid,
                exit,
                folder,
            }) = handed_over.recv()
            else {
                return;
            };
            let watch = Watch::new(spawned.stderr.take(), exit, hang_up.pipe);
            let mut family = Family::of(pid, marker);
            if Pid::from_child(&spawned) != pid {
                family.set_supervisor(Pid::from_child(&spawned));
            }
            let keeper = Self {
                spawned,
                family,
                exit: None,
                watch,
                shared,
                orders: hang_up.orders,
                ladder,
                folder,
            };
            span.in_scope(|| keeper.run());
        };
        thread::Builder::new()
            .name("process-keeper".into())
            .spawn(keep)?;
        Ok(hand_over)
    }

    fn run(mut self) {
        while let Seen::Exit(exit) = self.watch.until(Deadline::NEVER, &self.shared) {
            self.take_note_of_exit(exit);
        }
        let order = self.orders.try_recv();
        let order = order.unwrap_or_else(|_| Order::silent());
        let ladder = order.ladder.unwrap_or_else(|| self.ladder.clone());

        let report = self.descend(&ladder);
        let is_complete = report.is_complete();
        if is_complete {
            self.release();
        }
        // Nobody need be waiting.
        let _ = order.reply.map(|reply| reply.send(report));
        drop(order.ending);

        // What not even a kill has ended yet is still waited for.
        if !is_complete {
            while self.exit.is_none() {
                if let Seen::Exit(exit) = self.watch.until(Deadline::NEVER, &self.shared) {
                    self.take_note_of_exit(exit);
                }
            }
            self.release();
        }
    }

    fn take_note_of_exit(&mut self, exit: Exit) {
        if exit == Exit::Unknown {
            self.family.forget_child();
            // If the supervisor was killed, the child may still run. Its process tree is recorded
            // here.
            self.family.look();
        }
        self.exit = Some(exit);
        self.shared.exit.send_replace(Some(exit));
    }

    /// Ends the supervisor, which releases the process ID of the child, and removes the folder of
    /// the child.
    fn release(&mut self) {
        self.watch.close_exit();
        // An error means that it was given back already.
        let _ = self.spawned.wait();
        self.family.forget_child();
        drop(self.folder.take());
    }
}
