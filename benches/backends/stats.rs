//! Measurements of sessions and their statistics.

use std::time::Duration;

/// Measurements of one session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    /// From the start to the first event.
    pub(crate) first_event: Duration,
    /// From the start to the end of the last process.
    pub(crate) whole: Duration,
    /// The memory of all processes of the program during the second request to the model.
    pub(crate) tree_kib: u64,
}

/// Measurements of all rounds with one backend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) autonoe: Vec<Session>,
    /// The same rounds with the bare program; empty if there is none.
    pub(crate) bare: Vec<Session>,
    /// The same rounds with the program in a sandbox; empty if there is no program.
    pub(crate) sandboxed: Vec<Session>,
    /// The resident memory that a session adds to our process.
    pub(crate) growth_kib: u64,
}

/// Median and quartiles of measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) lower: f64,
    pub(crate) median: f64,
    pub(crate) upper: f64,
}

impl Spread {
    pub(crate) fn new(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let at = |quarters: usize| figures[(figures.len() - 1) * quarters / 4];
        Self {
            lower: at(1),
            median: at(2),
            upper: at(3),
        }
    }
}

impl Rounds {
    /// Returns our measurement.
    pub(crate) fn of_autonoe(&self, figure: impl Fn(&Session) -> f64) -> Spread {
        Spread::new(self.autonoe.iter().map(figure))
    }

    /// Returns the measurement of the program in `others`, and the ratio of ours to it by round;
    /// `None` if there is no such program.
    pub(crate) fn compare(
        &self,
        others: &[Session],
        figure: impl Fn(&Session) -> f64,
    ) -> Option<(Spread, Spread)> {
        if others.is_empty() {
            return None;
        }
        let other = Spread::new(others.iter().map(&figure));
        let pairs = self.autonoe.iter().zip(others);
        let ratio = Spread::new(pairs.map(|(autonoe, other)| figure(autonoe) / figure(other)));
        Some((other, ratio))
    }
}
