//! A run that broke off, as its journal tells it.

use super::{JournalLine, RunAction, RunLimits, RunMachine};
use crate::domain::{Mode, RunId};

/// A run that broke off: what is needed to go on with it.
///
/// Made of the lines of its journal, in order. It goes on with exact counts:
/// a session whose end was written down is not repeated; one that was under
/// way is run again under its number, and its cost counts as unknown.
///
/// ```
/// use autonoe_core::{Epoch, JournalLine, Mode, RecordedRun, RunId, RunLimits};
///
/// let started = JournalLine::RunStarted { limits: RunLimits::new(Mode::Run), epoch: Epoch(1) };
/// let broke_off = RecordedRun::replay(RunId::new("run"), [&started]);
///
/// assert!(broke_off.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    pub(super) run: RunId,
    pub(super) machine: RunMachine,
}

impl RecordedRun {
    /// Replays the lines of one run; `None` if it did not start or came to its end.
    pub fn replay<'a>(
        run: RunId,
        lines: impl IntoIterator<Item = &'a JournalLine>,
    ) -> Option<Self> {
        let mut machine: Option<RunMachine> = None;
        for line in lines {
            match (line, &mut machine) {
                (JournalLine::RunStarted { limits, .. }, None) => {
                    machine = Some(RunMachine::new(limits.clone()));
                }
                (JournalLine::Fact { fact, .. }, Some(machine)) => {
                    let _ = machine.apply(fact.clone());
                }
                (JournalLine::RunEnded { .. }, _) => return None,
                _ => {}
            }
        }
        let machine = machine?;
        Some(Self { run, machine })
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns what it is for.
    pub fn mode(&self) -> Mode {
        self.machine.limits().mode
    }

    /// Returns the limits that it was started with.
    pub fn limits(&self) -> &RunLimits {
        self.machine.limits()
    }

    /// Returns what was under way when it broke off.
    pub fn under_way(&self) -> RunAction {
        self.machine.action()
    }

    /// Returns the number of the session that was under way and is lost.
    pub(super) fn lost_session(&self) -> Option<u32> {
        match self.machine.action() {
            RunAction::StartSession(plan) => Some(plan.number),
            _ => None,
        }
    }
}
