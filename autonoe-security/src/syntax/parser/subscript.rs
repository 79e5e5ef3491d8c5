//! Parses array subscripts.

use super::dollar::Quoting;
use super::{Parser, Result};
use crate::syntax::Subscript;

impl<'a> Parser<'a> {
    /// Reads `[..]`.
    pub(super) fn subscript(&mut self, quoting: Quoting) -> Result<Subscript<'a>> {
        let start = self.at;
        if matches!(self.peek_second(), b'@' | b'*') && self.byte(start + 2) == b']' {
            self.at += 3;
            return Ok(Subscript::All);
        }
        self.at += 1;
        let index = self.nested(|parser| parser.arithmetic_in_brackets(quoting))?;
        if self.peek() != b']' {
            return Err(self.not_closed("bracket", start));
        }
        self.at += 1;
        Ok(Subscript::Index(Box::new(index)))
    }
}
