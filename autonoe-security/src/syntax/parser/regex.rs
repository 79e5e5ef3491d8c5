//! Parses regular expressions and extended globs, which are only allowed in `[[ .. ]]`.

use super::bytes::{ACTIVE, BREAK, NAME_START, is};
use super::dollar::Quoting;
use super::keyword::Keyword;
use super::parts::Parts;
use super::{Parser, Result};
use crate::syntax::{SyntaxError, Word};

impl<'a> Parser<'a> {
    /// Reads the expression after `=~`. Bash reads it as one word, in which `|` is a character and
    /// parentheses may enclose blanks.
    pub(super) fn regular_expression(&mut self) -> Result<Word<'a>> {
        let start = self.at;
        if self.peek() == b'#' || self.is_word(Keyword::CloseCondition.text())? {
            return Err(self.missing("a regular expression"));
        }
        let mut parts = Parts::default();
        let mut run = start;
        let mut depth = 0_usize;
        loop {
            let at = self.find(self.at, ACTIVE);
            self.at = at;
            let part = match self.peek() {
                b'(' => {
                    depth += 1;
                    None
                }
                b')' if depth > 0 => {
                    depth -= 1;
                    None
                }
                b'|' => None,
                b' ' | b'\t' if depth > 0 => None,
                byte if is(byte, BREAK) => break,
                b'\\' if self.is_continuation(at) => {
                    self.word_ends_at_continuation(at)?;
                    break;
                }
                b'\\' => Some(self.escaped()?),
                b'\r' => return Err(self.unexpected()),
                // In parentheses Bash only counts.
                b'\'' | b'"' | b'`' if depth > 0 => return Err(self.misleading(at)),
                b'$' if depth > 0 && !self.is_harmless_dollar() => {
                    return Err(self.misleading(at));
                }
                b'$' => self.dollar(Quoting::None)?,
                b'\'' => Some(self.single_quoted()?),
                b'"' => Some(self.double_quoted()?),
                b'`' => Some(self.back_quoted(Quoting::None)?),
                _ => None,
            };
            match part {
                None => self.at = at + 1,
                Some(part) => {
                    parts.literal(self.slice(run, at));
                    parts.push(part);
                    run = self.at;
                }
            }
        }
        if depth > 0 || matches!(self.peek(), b'<' | b'>') {
            return Err(self.not_closed("parenthesis", start));
        }
        if self.at == start {
            return Err(self.missing("a regular expression"));
        }
        parts.literal(self.slice(run, self.at));
        Ok(Word {
            parts: parts.finish(),
            span: self.span_from(start),
        })
    }

    fn misleading(&self, at: usize) -> SyntaxError {
        self.unsupported("an expansion or quote in the parentheses of a pattern", at)
    }

    /// Returns whether the `$` here is a character or starts a plain `$name`.
    fn is_harmless_dollar(&self) -> bool {
        let next = self.peek_second();
        is(next, NAME_START) || matches!(next, b')' | b'|' | b' ')
    }

    /// Skips the parentheses at `at` of an extended glob, and returns their end. They may only
    /// contain plain patterns.
    pub(super) fn extended_glob(&self, at: usize) -> Result<usize> {
        let mut depth = 0_usize;
        let mut end = at;
        loop {
            match self.byte(end) {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'|' | b'*' | b'?' | b'[' | b']' | b' ' | b'~' | b'{' | b'}' => {}
                byte if is(byte, ACTIVE) => return Err(self.misleading(at)),
                _ => {}
            }
            end += 1;
            if depth == 0 {
                return Ok(end);
            }
        }
    }
}
