//! Whether a simulation came to the end that it must.

use autonoe_core::{JournalLine, RunFact};

use super::World;
use crate::script::counts;
use crate::store::Store;

/// What must never be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A session took effect more than once.
    Repeated { number: u32 },
    /// A session that the run counts took no effect.
    Missing { number: u32 },
    /// The run does not end although nothing hinders it any more.
    NoEnd,
    /// The run comes to something else than one without faults.
    OtherCounts { found: String, expected: String },
    /// The unknown costs are not those of the sessions that were lost.
    OtherUnknownCosts { found: u32, lost: usize },
    /// The journal does not give the decisions again that it holds.
    Diverged,
}

/// What happened in a simulation that went well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) takeovers: u64,
    pub(crate) refused: u64,
    pub(crate) records_used: u64,
    pub(crate) lost: u64,
    pub(crate) duplicates: u64,
    pub(crate) limits_changed: u64,
    pub(crate) ended_at: u64,
}

impl World {
    /// Compares what happened with a run without faults.
    pub(super) fn verdict(self) -> Result<Tally, Violation> {
        let Store {
            effects,
            journal,
            ended,
            refused,
            ..
        } = self.store;
        let times = |number| effects.iter().filter(|done| **done == number).count();
        if let Some(number) = effects.iter().copied().find(|number| times(*number) > 1) {
            return Err(Violation::Repeated { number });
        }
        let report = ended.ok_or(Violation::NoEnd)?;
        if let Some(number) = (1..=report.sessions).find(|number| times(*number) == 0) {
            return Err(Violation::Missing { number });
        }
        let undisturbed = self.script.undisturbed();
        if counts(&report) != counts(&undisturbed) {
            return Err(Violation::OtherCounts {
                found: format!("{report:?}"),
                expected: format!("{undisturbed:?}"),
            });
        }
        let is_lost = |line: &&JournalLine| {
            let JournalLine::Fact { fact, .. } = line else {
                return false;
            };
            matches!(fact, RunFact::SessionLost { .. })
        };
        let lost = journal.iter().filter(is_lost).count();
        if usize::try_from(report.cost.unknown_parts) != Ok(lost) {
            let found = report.cost.unknown_parts;
            return Err(Violation::OtherUnknownCosts { found, lost });
        }
        if self.diverged {
            return Err(Violation::Diverged);
        }
        Ok(Tally {
            refused,
            ended_at: self.now,
            ..self.tally
        })
    }
}
