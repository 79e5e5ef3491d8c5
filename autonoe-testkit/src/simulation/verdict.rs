//! Verdict of a simulation: its statistics and the violations found.

use autonoe_core::ExitReason;

use super::simulated_work::counts;
use super::{Driver, Store, World};

/// A violated guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A session took effect more than once.
    Repeated {
        /// The number of the session.
        number: u32,
    },
    /// A session that the run counts had no effect.
    Missing {
        /// The number of the session.
        number: u32,
    },
    /// The run does not end although no fault prevents it any more.
    NoEnd,
    /// The result of the run differs from that of a run without faults.
    WrongCounts {
        /// The result.
        found: String,
        /// The expected result.
        expected: String,
    },
    /// The unknown costs are not those of the lost sessions.
    WrongUnknownCosts {
        /// The number of unknown costs.
        found: u32,
        /// The number of lost sessions.
        lost: usize,
    },
    /// Replaying the journal does not reproduce its decisions.
    Diverged,
    /// A cancelled run ended with another reason.
    NotInterrupted {
        /// The reason.
        exit: ExitReason,
    },
    /// A session started although the driver had noticed the cancellation.
    StartedAfterCancel {
        /// The number of the session.
        number: u32,
    },
    /// An epoch was not higher than its predecessor.
    EpochDecreased {
        /// The predecessor.
        from: u64,
        /// The epoch.
        to: u64,
    },
}

/// Statistics of a simulation without violations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of takeovers.
    pub takeovers: u64,
    /// The number of refused writes.
    pub refused: u64,
    /// Number of outcome records that were found.
    pub records_used: u64,
    /// The number of sessions given up as lost.
    pub lost: u64,
    /// The number of duplicated events.
    pub duplicates: u64,
    /// Number of times that the run continued with other limits.
    pub limits_changed: u64,
    /// The number of cancelled runs.
    pub cancelled: u64,
    /// The time of the last event.
    pub ended_at: u64,
}

impl<D: Driver> World<D> {
    /// Compares the simulation with a run without faults, which is cancelled if this one was.
    pub(super) fn verdict(self) -> Result<(Stats, D), Violation> {
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
        // The last session of a cancelled run may not have ended by itself.
        let told = if self.cancelled {
            self.told.last().copied().unwrap_or_default()
        } else {
            report.sessions
        };
        let is_missing = |number: &u32| times(*number) == 0 || !self.told.contains(number);
        if let Some(number) = (1..=told).find(is_missing) {
            return Err(Violation::Missing { number });
        }
        let expected = if self.cancelled {
            self.work.cancelled(report.sessions, told)
        } else {
            self.work.undisturbed()
        };
        if counts(report) != counts(&expected) {
            return Err(Violation::WrongCounts {
                found: format!("{report:?}"),
                expected: format!("{expected:?}"),
            });
        }
        let lost = self.driver.lost(&self.store);
        if usize::try_from(report.cost.unknown_parts) != Ok(lost) {
            let found = report.cost.unknown_parts;
            return Err(Violation::WrongUnknownCosts { found, lost });
        }
        if let Some(violation) = self.driver.violation() {
            return Err(violation);
        }
        let tally = Stats {
            refused: *refused,
            cancelled: u64::from(self.cancelled),
            ended_at: self.now,
            ..self.tally
        };
        Ok((tally, self.driver))
    }
}
