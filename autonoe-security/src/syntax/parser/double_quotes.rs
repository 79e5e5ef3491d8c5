//! Parses text in double quotes.

use super::bytes::ACTIVE_IN_QUOTES;
use super::dollar::Quoting;
use super::parts::QuotedParts;
use super::{Parser, Result};
use crate::syntax::Part;

impl<'a> Parser<'a> {
    /// Reads `".."`.
    pub(super) fn double_quoted(&mut self) -> Result<Part<'a>> {
        let open = self.at;
        self.at += 1;
        let mut parts = QuotedParts::new(self.at);
        // The end of a name without braces: a joined line would continue it.
        let mut name_end = 0;
        loop {
            let at = self.find(self.at, ACTIVE_IN_QUOTES);
            self.at = at;
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    let rest = self.slice(parts.start(), at);
                    return Ok(parts.finish_as_part(rest));
                }
                b'\\' => match self.peek_second() {
                    b'\n' if at == name_end => return Err(self.joins(at)),
                    b'\n' => {
                        self.at += 2;
                        parts.skip(self.slice(parts.start(), at), self.at);
                    }
                    b'$' | b'`' | b'"' | b'\\' => {
                        parts.skip(self.slice(parts.start(), at), at + 1);
                        self.at += 2;
                    }
                    _ => self.at += 1,
                },
                b'$' | b'`' => {
                    if let Some(part) = self.quoted_expansion(Quoting::Double)? {
                        if self.byte(at + 1) != b'{' {
                            name_end = self.at;
                        }
                        parts.push(self.slice(parts.start(), at), part, self.at);
                    }
                }
                _ => return Err(self.unterminated("quote", open)),
            }
        }
    }

    /// Reads the expansion that `$` or a back-quote starts in quoted text. A `$` that starts no
    /// expansion is skipped.
    pub(super) fn quoted_expansion(&mut self, quoting: Quoting) -> Result<Option<Part<'a>>> {
        if self.peek() == b'`' {
            return self.back_quoted(quoting).map(Some);
        }
        let part = self.dollar(quoting)?;
        if part.is_none() {
            self.at += 1;
        }
        Ok(part)
    }
}
