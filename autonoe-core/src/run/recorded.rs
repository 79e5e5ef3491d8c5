//! [`RecordedRun`], an interrupted run as recorded in its journal.

use jiff::Timestamp;

use super::{GivenLimits, JournalLine, RunAction, RunFact, RunLimits, RunMachine};
use crate::domain::{LedgerView, Mode, RunId};

/// An interrupted run, with everything that is needed to resume it.
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
    pub(super) given: GivenLimits,
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
        Some(Self {
            run,
            machine,
            given: GivenLimits::default(),
        })
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns what it is for.
    pub fn mode(&self) -> Mode {
        self.machine.limits().mode
    }

    /// Lets it go on under other limits: those that are `given`.
    ///
    /// ```
    /// # use autonoe_core::{Epoch, GivenLimits, JournalLine, Mode, RecordedRun, RunId, RunLimits};
    /// # let started = JournalLine::RunStarted { limits: RunLimits::new(Mode::Run), epoch: Epoch(1) };
    /// # let broke_off = RecordedRun::replay(RunId::new("run"), [&started]).expect("it was interrupted");
    /// let given = GivenLimits { max_iterations: Some(3), ..GivenLimits::default() };
    ///
    /// assert_eq!(broke_off.with_limits(given).limits().max_iterations, Some(3));
    /// ```
    #[must_use]
    pub fn with_limits(mut self, given: GivenLimits) -> Self {
        self.given = given;
        self
    }

    /// Returns the limits that it goes on under: those that it was started with, but for those
    /// that were changed since.
    pub fn limits(&self) -> RunLimits {
        self.given.over(self.machine.limits())
    }

    /// Returns what was under way when it was interrupted.
    pub fn under_way(&self) -> RunAction {
        self.machine.action()
    }

    /// Returns what comes first when it goes on at `at` with the ledger as it is then: what was
    /// under way, or the end if it has reached one of its new limits.
    pub fn next(&self, at: Timestamp, ledger: LedgerView) -> RunAction {
        let mut machine = self.machine.clone();
        if let Some(fact) = self.given.as_fact(self.machine.limits(), at, ledger) {
            let _ = machine.apply(fact);
        }
        if let Some(number) = machine.session_under_way() {
            let _ = machine.apply(RunFact::SessionLost { number });
        }
        machine.action()
    }
}
