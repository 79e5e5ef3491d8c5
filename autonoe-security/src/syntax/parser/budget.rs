//! How much one text may hold.

use super::{Parser, Result};
use crate::syntax::SyntaxErrorKind;

/// What a whole text may cost, in words.
///
/// A text of the greatest length that people write stays far below it. It
/// bounds the time and memory that a text of nothing but tiny commands takes.
pub(super) const BUDGET: u32 = 50_000;

/// What a command costs beside its words.
pub(super) const COMMAND: u32 = 4;

/// What an expansion or a redirection costs.
pub(super) const EXPANSION: u32 = 3;

/// What a word or a token costs.
pub(super) const WORD: u32 = 1;

impl Parser<'_> {
    /// Takes `cost` from what is left.
    #[inline]
    pub(super) fn spend(&mut self, cost: u32) -> Result<()> {
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.error_here(SyntaxErrorKind::TooMany)),
        }
    }
}
