//! Substitutions that Bash scans as balanced parentheses.
//!
//! In subscripts, in `${x/a/b}`, in `${x:1}` and in `for ((..))` Bash does not parse the commands
//! of `$(..)` to find its end: it counts parentheses and skips quotes. It counts all of them to
//! decide whether `$((..))` is arithmetic. A `case` or a comment misleads this scan: quoted text
//! becomes text, and arithmetic becomes commands.

use super::{Parser, Result};
use crate::syntax::{Part, Span, SyntaxErrorKind};

impl Parser<'_> {
    /// Rejects substitutions among `parts` whose parentheses are not balanced.
    pub(super) fn check_flat(&self, parts: &[Part<'_>]) -> Result<()> {
        for part in parts {
            if let Part::CommandSubstitution(inner) = part
                && !self.is_flat(inner.span)
            {
                let kind = SyntaxErrorKind::Unsupported(
                    "a command substitution of this kind in an expansion",
                );
                return Err(self.error(kind, inner.span.start(), inner.span.end()));
            }
        }
        Ok(())
    }

    /// Returns whether the parentheses of the substitution at `span` are balanced, and its own ones
    /// are the outermost.
    fn is_flat(&self, span: Span) -> bool {
        let raw = self.slice(span.start(), span.end());
        let inner = raw.strip_prefix("$(").and_then(|raw| raw.strip_suffix(')'));
        let inner = inner.unwrap_or_else(|| raw.trim_matches('`'));
        is_balanced(inner.as_bytes())
    }
}

/// Returns whether parentheses outside of quotes are balanced.
fn is_balanced(bytes: &[u8]) -> bool {
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return false,
            b')' => open -= 1,
            b'#' => return false,
            b'\\' => at += 1,
            quote @ (b'\'' | b'"' | b'`') => match end_of_quote(bytes, at, *quote) {
                Some(end) => at = end,
                None => return false,
            },
            _ => {}
        }
        at += 1;
    }
    open == 0
}

/// Returns the end of the quote that starts at `start`, if it is easy to determine.
pub(super) fn end_of_quote(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            byte if *byte == quote => return Some(at),
            b'\\' if quote != b'\'' => at += 1,
            b'`' if quote == b'"' => return None,
            b'$' if quote == b'"' && matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'[')) => {
                return None;
            }
            _ => {}
        }
        at += 1;
    }
}
