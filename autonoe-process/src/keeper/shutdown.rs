//! Shutdown of a child by the steps of a [`ShutdownPolicy`].

use rustix::process::Signal;

use super::Keeper;
use super::watch::WatchEvent;
use crate::process_tree::{BETWEEN_ROUNDS, EmptyScans};
use crate::shutdown_policy::Deadline;
use crate::shutdown_policy::ProcessInfo;
use crate::table::Row;
use crate::{EndedBy, ShutdownAction, ShutdownPolicy, ShutdownReport};

impl Keeper {
    /// Ends the child by the steps of `ladder`, and kills the remaining processes.
    pub(super) fn shutdown(&mut self, ladder: &ShutdownPolicy) -> ShutdownReport {
        let mut ended_by = match self.exit {
            Some(_) => EndedBy::Itself,
            None => self.run_steps(ladder),
        };
        // A blocked writer must not wait for a reader.
        self.shared.stdin.close();
        let left = self.kill_the_rest(ladder);
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

    fn run_steps(&mut self, ladder: &ShutdownPolicy) -> EndedBy {
        for step in ladder.steps() {
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
    fn kill_the_rest(&mut self, ladder: &ShutdownPolicy) -> Vec<ProcessInfo> {
        let deadline = Deadline::after(ladder.kill_limit());
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
