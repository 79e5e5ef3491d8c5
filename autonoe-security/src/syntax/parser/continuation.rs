//! Backslash line continuations.
//!
//! Bash removes a backslash and the newline after it before it splits the text into tokens, so a
//! token may span two lines. The parser accepts a continuation only where it joins nothing: between
//! words, and in quoted text.

use super::bytes::{BREAK, OPERATOR, is};
use super::{Parser, Result};
use crate::syntax::SyntaxError;

impl Parser<'_> {
    /// Skips continued lines between words.
    pub(super) fn skip_continuation(&mut self) -> Result<()> {
        let start = self.at;
        let end = self.after_continuation(start);
        let before = start.checked_sub(1).map_or(b' ', |at| self.byte(at));
        let behind = self.byte(end);
        // `&\⏎&` is `&&`, `>&\⏎-` closes a descriptor.
        if is(before, OPERATOR) && (is(behind, OPERATOR) || behind == b'-') {
            return Err(self.joins(start));
        }
        self.at = end;
        Ok(())
    }

    /// Returns whether the line continues at `at`.
    pub(super) fn is_continuation(&self, at: usize) -> bool {
        self.byte(at) == b'\\' && self.byte(at + 1) == b'\n'
    }

    /// Rejects continued lines at `at` unless the word ends after them.
    pub(super) fn word_ends_at_continuation(&self, at: usize) -> Result<()> {
        let behind = self.byte(self.after_continuation(at));
        if is(behind, BREAK) && !matches!(behind, b'<' | b'>' | b'(') {
            Ok(())
        } else {
            Err(self.joins(at))
        }
    }

    /// Returns the error for a continuation at `at` where Bash would join the halves of a token.
    pub(super) fn joins(&self, at: usize) -> SyntaxError {
        self.error(
            crate::syntax::SyntaxErrorKind::Unsupported("a line continuation inside a token"),
            at,
            at + 2,
        )
    }

    fn after_continuation(&self, mut at: usize) -> usize {
        while self.is_continuation(at) {
            at += 2;
        }
        at
    }
}
