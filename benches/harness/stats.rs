//! Statistics over the measurements of several rounds.

use std::fmt;
use std::time::{Duration, Instant};

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

    /// Compares our measurements with those of the peer, round by round.
    pub(crate) fn from_ratios(autonoe: &[f64], peer: &[f64]) -> Self {
        Self::new(
            autonoe
                .iter()
                .zip(peer)
                .map(|(autonoe, peer)| autonoe / peer),
        )
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.median {
            large if large >= 100.0 => 0,
            middling if middling >= 10.0 => 1,
            _ => 2,
        };
        let Self {
            lower,
            median,
            upper,
        } = self;
        write!(
            f,
            "{median:.digits$} ({lower:.digits$} to {upper:.digits$})"
        )
    }
}

pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let done = work();
    (started.elapsed(), done)
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
