//! Limits on the number of items in one text.

use super::{Parser, Result};
use crate::syntax::SyntaxErrorKind;

/// The budget of a whole text, in units of words.
///
/// The longest texts that people write stay far below it. It bounds the time and memory for a text
/// that consists of tiny commands only.
pub(super) const BUDGET: u32 = 50_000;

/// The cost of a command besides its words.
pub(super) const COMMAND: u32 = 4;

/// The cost of an expansion or a redirection.
pub(super) const EXPANSION: u32 = 3;

/// The cost of a word or a token.
pub(super) const WORD: u32 = 1;

impl Parser<'_> {
    /// Deducts `cost` from the remaining budget.
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
