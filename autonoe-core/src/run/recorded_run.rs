//! [`RecordedRun`], an interrupted run as recorded in its journal.

use jiff::Timestamp;

use super::{JournalLine, LimitOverrides, RunAction, RunFact, RunLimits, RunMachine};
use crate::ledger::LedgerView;
use crate::time::{Mode, RunId};

/// An interrupted run, with everything that is needed to resume it.
///
/// It is replayed from the lines of its journal, in order, and resumes with exact counts. A session
/// with a recorded end is not repeated. A session that was running is run again under its number,
/// and its cost counts as unknown.
///
/// ```
/// use autonoe_core::run::{JournalLine, RecordedRun, RunLimits};
/// use autonoe_core::time::Epoch;
/// use autonoe_core::{Mode, RunId};
///
/// let started = JournalLine::RunStarted { limits: RunLimits::new(Mode::Run), epoch: Epoch(1) };
/// let interrupted = RecordedRun::replay(RunId::new("run"), [&started]);
///
/// assert!(interrupted.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    pub(crate) run: RunId,
    pub(crate) machine: RunMachine,
    pub(crate) overrides: LimitOverrides,
}

impl RecordedRun {
    /// Replays the lines of one run; `None` if it did not start or has ended.
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
            overrides: LimitOverrides::default(),
        })
    }

    /// Returns the ID of the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the mode of the run.
    pub fn mode(&self) -> Mode {
        self.machine.limits().mode
    }

    /// Sets limits that override those of the run when it is resumed.
    ///
    /// ```
    /// # use autonoe_core::run::{LimitOverrides, JournalLine, RecordedRun, RunLimits};
    /// # use autonoe_core::time::Epoch;
    /// # use autonoe_core::{Mode, RunId};
    /// # let started = JournalLine::RunStarted { limits: RunLimits::new(Mode::Run), epoch: Epoch(1) };
    /// # let interrupted = RecordedRun::replay(RunId::new("run"), [&started]).expect("it was
    /// interrupted");
    /// let given = LimitOverrides { max_iterations: Some(3), ..LimitOverrides::default() };
    ///
    /// assert_eq!(interrupted.with_limits(given).limits().max_iterations, Some(3));
    /// ```
    #[must_use]
    pub fn with_limits(mut self, given: LimitOverrides) -> Self {
        self.overrides = given;
        self
    }

    /// Returns the limits that the resumed run has: its original limits, with all overrides
    /// applied.
    pub fn limits(&self) -> RunLimits {
        self.overrides.over(self.machine.limits())
    }

    /// Returns the action that the interruption ended.
    pub fn interrupted_action(&self) -> RunAction {
        self.machine.action()
    }

    /// Returns the first action of a run that is resumed at `at` with `ledger`: the interrupted
    /// action, or the end if the run has reached one of its new limits.
    pub fn next(&self, at: Timestamp, ledger: LedgerView) -> RunAction {
        let mut machine = self.machine.clone();
        if let Some(fact) = self.overrides.as_fact(self.machine.limits(), at, ledger) {
            let _ = machine.apply(fact);
        }
        if let Some(number) = machine.running_session() {
            let _ = machine.apply(RunFact::SessionLost { number });
        }
        machine.action()
    }
}
