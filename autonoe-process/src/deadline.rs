//! Points in time that may never come.

use std::time::{Duration, Instant};

/// When something is over; `None` if that is too far away to be said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NEVER: Self = Self(None);

    pub(crate) fn after(limit: Duration) -> Self {
        Self(Instant::now().checked_add(limit))
    }

    pub(crate) fn has_come(self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// Returns how much time is left; `None` is any amount.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.0.map(left)
    }

    /// Returns the earlier of both.
    pub(crate) fn or_after(self, limit: Duration) -> Self {
        let left = self.left().map_or(limit, |left| left.min(limit));
        Self::after(left)
    }
}
