//! The thread that keeps a child: reads what it complains about, sees its end, ends it.
//!
//! It needs no runtime and nobody's attention, so a child is ended in the same way when
//! it is shut down, when its handle is dropped in a panic, and when the future that shuts
//! it down is dropped halfway.

mod descend;
mod lifeline;
mod shared;
mod watch;

pub(crate) use lifeline::Lifeline;
pub(crate) use shared::Shared;

use std::io::{self, PipeReader};
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::process::Pid;

use self::lifeline::{HangUp, Order};
use self::watch::{Seen, Watch};
use crate::deadline::Deadline;
use crate::family::Family;
use crate::living::Living;
use crate::{Exit, Ladder, Launch, SessionFolder, exit};

/// Keeps one child.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
    pid: Pid,
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
    ///
    /// `exit` is closed at the other end when the child has ended.
    pub(crate) fn start(
        launch: Launch,
        shared: Arc<Shared>,
        exit: PipeReader,
        hang_up: HangUp,
    ) -> io::Result<Sender<(Child, Option<SessionFolder>)>> {
        let (hand_over, handed_over) = channel::<(Child, Option<SessionFolder>)>();
        let Launch { marker, ladder, .. } = launch;
        let span = tracing::Span::current();
        // Before the child, and not when this thread comes to it: whoever kills everything must
        // find every child that was started.
        let living = Living::begin(marker.clone());
        let keep = move || {
            let _living = living;
            // Without a child, its start has failed.
            let Ok((mut child, folder)) = handed_over.recv() else {
                return;
            };
            let pid = Pid::from_child(&child);
            let watch = Watch::new(child.stderr.take(), exit, hang_up.pipe);
            let keeper = Self {
                child,
                pid,
                family: Family::of(pid, marker),
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
        while self.watch.until(Deadline::NEVER, &self.shared) == Seen::Exit {
            self.take_note_of_exit();
        }
        let order = self.orders.try_recv();
        let order = order.unwrap_or_else(|_| Order::silent());
        let ladder = order.ladder.unwrap_or_else(|| self.ladder.clone());

        let report = self.descend(&ladder);
        if self.exit.is_some() {
            self.release();
        }
        // Nobody need be waiting.
        let _ = order.reply.map(|reply| reply.send(report));
        drop(order.ending);

        // What not even a kill has ended yet is still waited for.
        while self.exit.is_none() {
            if self.watch.until(Deadline::NEVER, &self.shared) == Seen::Exit {
                self.take_note_of_exit();
                self.release();
            }
        }
    }

    fn take_note_of_exit(&mut self) {
        let exit = exit::wait_and_leave(self.pid);
        if exit == Exit::Unknown {
            self.family.forget_child();
        }
        self.exit = Some(exit);
        self.shared.exit.send_replace(Some(exit));
    }

    /// Gives the number of the child back to the system, and removes its folder.
    fn release(&mut self) {
        // An error means that it was given back already.
        let _ = self.child.wait();
        self.family.forget_child();
        drop(self.folder.take());
    }
}
