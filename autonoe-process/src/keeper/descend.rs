//! Down the ladder.

use rustix::process::Signal;

use super::Keeper;
use super::watch::Seen;
use crate::family::{BETWEEN_ROUNDS, CleanLooks};
use crate::ladder::Deadline;
use crate::ladder::ProcessInfo;
use crate::table::Row;
use crate::{Action, EndedBy, Ladder, ShutDown};

impl Keeper {
    /// Ends the child by the steps of `ladder`, and kills what is left of it.
    pub(super) fn descend(&mut self, ladder: &Ladder) -> ShutDown {
        let mut ended_by = match self.exit {
            Some(_) => EndedBy::Itself,
            None => self.take_steps(ladder),
        };
        // Whoever still writes need not wait for a reader.
        self.shared.stdin.close();
        let left = self.kill_the_rest(ladder);
        if ended_by == EndedBy::Nothing && self.exit.is_some() {
            ended_by = EndedBy::Kill;
        }
        self.watch.read_rest(&self.shared);

        let report = ShutDown {
            exit: self.exit,
            ended_by,
            killed: self.family.killed(),
            left,
            stderr_tail: self.shared.stderr().text(),
        };
        tell(&report);
        report
    }

    fn take_steps(&mut self, ladder: &Ladder) -> EndedBy {
        for step in ladder.steps() {
            // As long as the child lives, all that descends from it can be found; what
            // loses its parent in this step is remembered.
            self.family.look();
            match step.action {
                Action::CloseStdin => self.shared.stdin.close(),
                Action::Signal(signal) => self.signal(signal.to_system()),
            }
            self.wait_for_exit(Deadline::after(step.wait));
            if self.exit.is_some() {
                return EndedBy::Step(step.action);
            }
        }
        EndedBy::Nothing
    }

    /// Kills until nothing is left or the limit is over, and returns what is left.
    fn kill_the_rest(&mut self, ladder: &Ladder) -> Vec<ProcessInfo> {
        let deadline = Deadline::after(ladder.kill_limit());
        let mut clean = CleanLooks::default();
        loop {
            if self.exit.is_some() && self.family.is_proven_empty() {
                return Vec::new();
            }
            let living = self.family.look();
            let nobody = living.is_empty() && self.exit.is_some();
            if clean.enough(nobody) {
                return Vec::new();
            }
            // A stopped supervisor reports nothing.
            self.family.continue_supervisor();
            // The child first: it could start its tools again.
            self.signal(Signal::KILL);
            self.family.kill_group_of_child();
            self.family.kill(&living);
            if deadline.has_come() {
                return living.iter().map(Row::info).collect();
            }
            self.wait_for_exit(deadline.or_after(BETWEEN_ROUNDS));
        }
    }

    fn wait_for_exit(&mut self, deadline: Deadline) {
        if let Seen::Exit(exit) = self.watch.until(deadline, &self.shared) {
            self.take_note_of_exit(exit);
        }
    }

    /// Sends `signal` to the child, if it lives.
    fn signal(&self, signal: Signal) {
        // Its status was not taken yet, so the number is its own.
        if self.exit.is_none()
            && let Err(error) = self.family.signal(self.shared.addressee, signal)
        {
            tracing::warn!(%error, "a child cannot be sent a signal");
        }
    }
}

fn tell(report: &ShutDown) {
    let ShutDown {
        exit,
        ended_by,
        killed,
        left,
        ..
    } = report;
    if report.is_complete() && killed.is_empty() {
        tracing::debug!(?exit, ?ended_by, "a child is gone");
    } else if report.is_complete() {
        tracing::info!(
            ?exit,
            ?ended_by,
            ?killed,
            "a child is gone, and what it left was killed"
        );
    } else {
        tracing::error!(
            ?exit,
            ?ended_by,
            ?killed,
            ?left,
            "processes are left of a child"
        );
    }
}
