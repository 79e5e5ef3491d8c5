//! Whether a simulation came to the end that it must.

use autonoe_core::ExitReason;

use super::script::counts;
use super::{Driver, Store, World};

/// What must never be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A session took effect more than once.
    Repeated {
        /// Its number.
        number: u32,
    },
    /// A session that the run counts took no effect.
    Missing {
        /// Its number.
        number: u32,
    },
    /// The run does not end although nothing hinders it any more.
    NoEnd,
    /// The run comes to something else than one without faults.
    OtherCounts {
        /// What it comes to.
        found: String,
        /// What it must come to.
        expected: String,
    },
    /// The unknown costs are not those of the sessions that were lost.
    OtherUnknownCosts {
        /// How many there are.
        found: u32,
        /// How many sessions were lost.
        lost: usize,
    },
    /// What was written down does not give the decisions again that it holds.
    Diverged,
    /// A run that is cancelled ended as something else.
    NotInterrupted {
        /// How it ended.
        exit: ExitReason,
    },
    /// A session began although who decides had taken note that the run is cancelled.
    BegunAfterCancel {
        /// Its number.
        number: u32,
    },
    /// An epoch was not higher than one before it.
    EpochFell {
        /// The one before.
        from: u64,
        /// The one after it.
        to: u64,
    },
}

/// What happened in a simulation that went well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often a host took over.
    pub takeovers: u64,
    /// How many writes were refused.
    pub refused: u64,
    /// How often an outcome record was found.
    pub records_used: u64,
    /// How many sessions were given up as lost.
    pub lost: u64,
    /// How many things came twice.
    pub duplicates: u64,
    /// How often the run went on under other limits.
    pub limits_changed: u64,
    /// How many runs were cancelled.
    pub cancelled: u64,
    /// When nothing was left to happen.
    pub ended_at: u64,
}

impl<D: Driver> World<D> {
    /// Compares what happened with a run without faults, which is cancelled if this one was.
    pub(super) fn verdict(self) -> Result<(Tally, D), Violation> {
        let Store {
            effects,
            ended,
            refused,
            ..
        } = &self.store;
        let times = |number| effects.iter().filter(|done| **done == number).count();
        if let Some(number) = effects.iter().copied().find(|number| times(*number) > 1) {
            return Err(Violation::Repeated { number });
        }
        let report = ended.as_ref().ok_or(Violation::NoEnd)?;
        if self.cancelled && report.exit != ExitReason::Interrupted {
            let exit = report.exit.clone();
            return Err(Violation::NotInterrupted { exit });
        }
        // Of a cancelled run the last session may have come to no end of its own.
        let told = match self.cancelled {
            true => self.told.last().copied().unwrap_or_default(),
            false => report.sessions,
        };
        let is_missing = |number: &u32| times(*number) == 0 || !self.told.contains(number);
        if let Some(number) = (1..=told).find(is_missing) {
            return Err(Violation::Missing { number });
        }
        let expected = match self.cancelled {
            true => self.script.cancelled(report.sessions, told),
            false => self.script.undisturbed(),
        };
        if counts(report) != counts(&expected) {
            return Err(Violation::OtherCounts {
                found: format!("{report:?}"),
                expected: format!("{expected:?}"),
            });
        }
        let lost = self.driver.lost(&self.store);
        if usize::try_from(report.cost.unknown_parts) != Ok(lost) {
            let found = report.cost.unknown_parts;
            return Err(Violation::OtherUnknownCosts { found, lost });
        }
        if let Some(violation) = self.driver.violation() {
            return Err(violation);
        }
        let tally = Tally {
            refused: *refused,
            cancelled: u64::from(self.cancelled),
            ended_at: self.now,
            ..self.tally
        };
        Ok((tally, self.driver))
    }
}
