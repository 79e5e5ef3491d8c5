//! [`Span`]: a byte range of a text.

use std::fmt;
use std::ops::Range;

/// A byte range of the parsed text.
///
/// Both ends are character boundaries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Creates a span. Positions beyond 4 GiB are clamped; the parser rejects such texts.
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: narrow(start),
            end: narrow(end.max(start)),
        }
    }

    /// Returns the start.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Returns the end.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns the span as a range, for slicing the text.
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
