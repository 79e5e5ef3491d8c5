//! [`RecordedRun`], an interrupted run as recorded in its journal, and its [`LedgerHistory`].

use std::collections::HashMap;

use jiff::Timestamp;

use super::{JournalLine, LimitOverrides, RunAction, RunFact, RunLimits, RunMachine};
use crate::event::Failure;
use crate::ledger::{Ledger, LedgerHash, LedgerView};
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
    /// let overrides = LimitOverrides { max_iterations: Some(3), ..LimitOverrides::default() };
    ///
    /// assert_eq!(interrupted.with_limits(overrides).limits().max_iterations, Some(3));
    /// ```
    #[must_use]
    pub fn with_limits(mut self, overrides: LimitOverrides) -> Self {
        self.overrides = overrides;
        self
    }

    /// Returns the limits that the resumed run has: its original limits, with all overrides
    /// applied.
    pub fn limits(&self) -> RunLimits {
        self.overrides.apply_to(self.machine.limits())
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

/// Reads the history from the journal. A run calls it when it starts, because the history then
/// includes earlier runs of the same runner.
pub(crate) type ReadLedgerHistory = dyn Fn() -> Result<LedgerHistory, Failure> + Send + Sync;

/// The last hash of the ledger in a journal, and the number of restores by run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LedgerHistory {
    /// The last recorded hash. While nothing confirms that save, also the hash before it.
    last: Option<(LedgerHash, Option<LedgerHash>)>,
    restored: HashMap<RunId, u32>,
}

impl LedgerHistory {
    /// Collects the history from lines of a journal, in order.
    #[cfg(any(test, feature = "project"))]
    pub(crate) fn from_lines<'a>(
        lines: impl IntoIterator<Item = (&'a RunId, &'a JournalLine)>,
    ) -> Self {
        let mut history = Self::default();
        for (run, line) in lines {
            match line {
                JournalLine::LedgerSave { from, to } => history.last = Some((*to, *from)),
                JournalLine::LedgerEdited { found, .. } => history.last = Some((*found, None)),
                // These lines are written after the save has returned.
                JournalLine::StatusChanged { .. } | JournalLine::Deprecated { .. } => {
                    if let Some((_, before)) = &mut history.last {
                        *before = None;
                    }
                }
                JournalLine::LedgerRestored { .. } => {
                    *history.restored.entry(run.clone()).or_default() += 1;
                }
                _ => {}
            }
        }
        history
    }

    /// Returns whether no hash was recorded. The ledger had no deliverables then.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Returns whether `found` is the ledger that was recorded last, or one without deliverables if
    /// none was recorded.
    pub(crate) fn matches(&self, found: &Ledger) -> bool {
        if self.is_empty() {
            found.deliverables().is_empty()
        } else {
            self.edited(found.content_hash()).is_none()
        }
    }

    /// Returns the recorded hash if a ledger with hash `found` was edited since.
    pub(crate) fn edited(&self, found: LedgerHash) -> Option<LedgerHash> {
        let (recorded, before) = self.last?;
        let is_known = found == recorded || Some(found) == before;
        (!is_known).then_some(recorded)
    }

    /// Returns the number of times that `run` restored the ledger.
    pub(crate) fn restored(&self, run: &RunId) -> u32 {
        self.restored.get(run).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::ledger::{Deliverable, DeliverableId, ForeignChange, ForeignLedger};

    fn hash(day: i8) -> LedgerHash {
        Ledger::new(date(2026, 1, day)).content_hash()
    }

    fn history(lines: &[JournalLine]) -> LedgerHistory {
        let run = RunId::new("run");
        LedgerHistory::from_lines(lines.iter().map(|line| (&run, line)))
    }

    fn save(from: i8, to: i8) -> JournalLine {
        JournalLine::LedgerSave {
            from: Some(hash(from)),
            to: hash(to),
        }
    }

    #[test]
    fn a_ledger_is_known_before_and_after_the_save_that_a_kill_interrupted() {
        let history = history(&[save(1, 2), save(2, 3)]);

        let edited = |day| history.edited(hash(day));

        assert_eq!(edited(3), None, "the save happened");
        assert_eq!(edited(2), None, "the process was killed before the save");
        assert_eq!(edited(1), Some(hash(3)), "an older state was restored");
        assert_eq!(edited(4), Some(hash(3)), "an editor wrote it");
    }

    #[test]
    fn going_back_behind_a_change_that_was_confirmed_is_an_edit() {
        let confirmed = JournalLine::Deprecated {
            session: 1,
            id: DeliverableId::new("DL-001").expect("an ID"),
        };
        let history = history(&[save(1, 2), confirmed]);

        assert_eq!(history.edited(hash(2)), None);
        assert_eq!(history.edited(hash(1)), Some(hash(2)));
    }

    #[test]
    fn a_save_that_failed_leaves_the_ledger_known() {
        let history = history(&[save(1, 2), save(1, 3)]);

        assert_eq!(history.edited(hash(1)), None);
        assert_eq!(history.edited(hash(3)), None);
    }

    #[test]
    fn an_edit_that_a_run_accepted_is_reported_once() {
        let (recorded, found) = (hash(2), hash(4));
        let accepted = JournalLine::LedgerEdited { recorded, found };
        let history = history(&[save(1, 2), accepted]);

        assert_eq!(history.edited(hash(4)), None);
        assert_eq!(history.edited(hash(2)), Some(hash(4)));
    }

    #[test]
    fn nothing_is_an_edit_when_nothing_was_recorded() {
        assert_eq!(LedgerHistory::default().edited(hash(1)), None);
    }

    #[test]
    fn only_a_ledger_without_deliverables_matches_a_history_without_hashes() {
        let empty = Ledger::new(date(2026, 1, 1));
        let mut planned = empty.clone();
        let id = DeliverableId::new("DL-001").expect("an ID");
        let deliverable = Deliverable::new(id, "Login", ["it works"]).expect("valid");
        let created = planned.create([deliverable], date(2026, 1, 1));
        created.expect("it is new");

        assert!(LedgerHistory::default().matches(&empty));
        assert!(!LedgerHistory::default().matches(&planned));
    }

    #[test]
    fn restored_ledgers_are_counted_by_run() {
        let restored = JournalLine::LedgerRestored {
            session: 1,
            foreign: ForeignLedger::new(ForeignChange::Removed),
        };
        let history = history(&[restored.clone(), restored]);

        assert_eq!(history.restored(&RunId::new("run")), 2);
        assert_eq!(history.restored(&RunId::new("other")), 0);
    }
}
