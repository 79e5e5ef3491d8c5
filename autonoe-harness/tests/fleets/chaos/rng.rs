//! Deterministic pseudo-random numbers.

use std::time::Duration;

/// Pseudo-random number generator (SplitMix64).
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `sides`.
    pub(super) fn below(&mut self, sides: u64) -> u64 {
        self.next() % sides.max(1)
    }

    /// Returns one of several values; `None` if there are none.
    pub(super) fn one_of<T>(&mut self, all: impl IntoIterator<Item = T>) -> Option<T> {
        let mut all: Vec<T> = all.into_iter().collect();
        let number = usize::try_from(self.below(all.len() as u64)).expect("small");
        (!all.is_empty()).then(|| all.swap_remove(number))
    }

    /// Returns a time below `limit`.
    pub(super) fn time_below(&mut self, limit: Duration) -> Duration {
        let limit = u64::try_from(limit.as_micros()).expect("short");
        Duration::from_micros(self.below(limit))
    }
}
