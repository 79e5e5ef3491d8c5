//! Figures of sessions, and what they come to.

use std::time::Duration;

/// What one session took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    /// From the start to the first event.
    pub(crate) first_event: Duration,
    /// From the start to the end of the last process.
    pub(crate) whole: Duration,
    /// The memory of all processes of the program, while the model is asked for the second time.
    pub(crate) tree_kib: u64,
}

/// What all rounds with one backend took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) ours: Vec<Session>,
    /// The same rounds with the bare program; empty where there is none.
    pub(crate) bare: Vec<Session>,
    /// What a session adds to the resident memory of our process.
    pub(crate) growth_kib: u64,
}

/// The middle of figures, and the middles of their halves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) lower: f64,
    pub(crate) median: f64,
    pub(crate) upper: f64,
}

impl Spread {
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Self {
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
    /// Returns a figure of ours, that of the bare program, and the ratio of both by round.
    pub(crate) fn compare(
        &self,
        figure: impl Fn(&Session) -> f64,
    ) -> (Spread, Option<(Spread, Spread)>) {
        let ours = Spread::of(self.ours.iter().map(&figure));
        if self.bare.is_empty() {
            return (ours, None);
        }
        let bare = Spread::of(self.bare.iter().map(&figure));
        let pairs = self.ours.iter().zip(&self.bare);
        let ratio = Spread::of(pairs.map(|(ours, bare)| figure(ours) / figure(bare)));
        (ours, Some((bare, ratio)))
    }
}
