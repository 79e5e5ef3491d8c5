//! Places in a text.

use std::fmt;
use std::ops::Range;

/// A range of bytes of the text that was parsed.
///
/// Both ends lie on boundaries of characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Makes a span. What lies beyond 4 GiB is cut off; the parser refuses such texts.
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: narrow(start),
            end: narrow(end.max(start)),
        }
    }

    /// Returns where it begins.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Returns where it ends.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns it as a range, to slice the text with.
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    /// Returns the smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
