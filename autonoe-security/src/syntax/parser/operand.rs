//! Parses the operand of `${x:-..}` and similar expansions.

use super::bytes::{ACTIVE_IN_OPERAND, BREAK, is};
use super::dollar::Quoting;
use super::parts::{Parts, QuotedParts};
use super::word::without_open_brackets;
use super::{Parser, Result};
use crate::syntax::{Part, Word};

impl<'a> Parser<'a> {
    /// Reads the word after `:-` and similar operators, up to `}`.
    pub(super) fn value_operand(&mut self, quoting: Quoting) -> Result<Word<'a>> {
        match quoting {
            Quoting::None => self.pattern_operand(quoting, false),
            _ => self.quoted_operand(quoting),
        }
    }

    /// Reads a pattern or a word outside of quotes, up to `}`, or to `/` if `up_to_slash`. Quotes
    /// have the same meaning as in every word.
    pub(super) fn pattern_operand(
        &mut self,
        quoting: Quoting,
        up_to_slash: bool,
    ) -> Result<Word<'a>> {
        let start = self.at;
        let mut parts = Parts::default();
        let mut open_brackets = 0;
        let mut run = start;
        loop {
            let at = self.find(self.at, ACTIVE_IN_OPERAND);
            self.at = at;
            let part = match self.peek() {
                b'}' => break,
                b'/' if up_to_slash && at > start => break,
                b'$' if quoting != Quoting::None && self.peek_second() == b'\'' => {
                    Some(self.decoded_in_quotes(quoting)?)
                }
                b'\'' | b'"' if quoting == Quoting::HereDocument => {
                    return Err(self.unsupported("a quote in an expansion in a here-document", at));
                }
                b'<' | b'>' if self.is_process_substitution(at) => {
                    return Err(self.unsupported("a process substitution in an expansion", at));
                }
                b'\'' => Some(self.single_quoted()?),
                b'"' => Some(self.double_quoted()?),
                b'`' => Some(self.back_quoted(quoting)?),
                b'\\' => Some(self.escaped()?),
                b'$' => self.dollar(quoting)?,
                b'~' if at == start => self.tilde_in_operand(),
                b'*' => Some(self.one(Part::Glob('*'))),
                b'?' => Some(self.one(Part::Glob('?'))),
                b'[' => {
                    open_brackets += 1;
                    Some(self.one(Part::Glob('[')))
                }
                b']' => {
                    open_brackets = 0;
                    None
                }
                b'\r' => return Err(self.unexpected()),
                _ if at >= self.text.len() => return Err(self.unterminated("expansion", start)),
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
        parts.literal(self.slice(run, self.at));
        let mut parts = parts.finish();
        if open_brackets > 0 {
            parts = without_open_brackets(parts, open_brackets);
        }
        Ok(Word {
            parts,
            span: self.span_from(start),
        })
    }

    /// Consumes one byte.
    fn one(&mut self, part: Part<'a>) -> Part<'a> {
        self.at += 1;
        part
    }

    fn tilde_in_operand(&mut self) -> Option<Part<'a>> {
        let start = self.at + 1;
        let mut end = start;
        while !is(self.byte(end), ACTIVE_IN_OPERAND | BREAK) && self.byte(end) != b':' {
            end += 1;
        }
        let is_closed = matches!(self.byte(end), b'}' | b'/' | b':')
            || self.byte(end) == b'~' && self.byte(end - 1) == b'=';
        if !is_closed {
            return None;
        }
        if self.byte(end) == b'~' {
            end -= 1;
        }
        self.at = end;
        Some(Part::Tilde(self.slice(start, end).into()))
    }

    /// Reads `$'..'` in an expansion in double quotes.
    ///
    /// In some places Bash looks for expansions in the decoded text, so nothing in it may have a
    /// special meaning.
    fn decoded_in_quotes(&mut self, quoting: Quoting) -> Result<Part<'a>> {
        let at = self.at;
        if quoting == Quoting::Double {
            let part = self.ansi_c_quoted()?;
            let means = ['$', '`', '\\', '\'', '"', '{', '}'];
            if matches!(&part, Part::Quoted(text) if !text.contains(means)) {
                return Ok(part);
            }
        }
        Err(self.unsupported(
            "$'..' with special characters in an expansion in quotes",
            at,
        ))
    }

    /// Reads the word after `:-` and similar operators in double quotes or a here-document.
    fn quoted_operand(&mut self, quoting: Quoting) -> Result<Word<'a>> {
        let start = self.at;
        let mut parts = QuotedParts::new(start);
        loop {
            let at = self.find(self.at, ACTIVE_IN_OPERAND);
            self.at = at;
            match self.peek() {
                b'}' => break,
                b'$' if self.peek_second() == b'\'' => {
                    let part = self.decoded_in_quotes(quoting)?;
                    parts.push(self.slice(parts.start(), at), part, self.at);
                }
                b'$' | b'`' => {
                    if let Some(part) = self.quoted_expansion(quoting)? {
                        parts.push(self.slice(parts.start(), at), part, self.at);
                    }
                }
                b'\'' | b'"' if quoting == Quoting::HereDocument => {
                    return Err(self.unsupported("a quote in an expansion in a here-document", at));
                }
                b'"' => {
                    let part = self.double_quoted()?;
                    parts.push(self.slice(parts.start(), at), part, self.at);
                }
                b'\'' => self.quotes_in_quotes(&mut parts)?,
                b'\\' => match self.peek_second() {
                    b'\n' => return Err(self.joins(at)),
                    b'$' | b'`' | b'"' | b'\\' | b'}' => {
                        parts.skip(self.slice(parts.start(), at), at + 1);
                        self.at += 2;
                    }
                    0 => return Err(self.unterminated("expansion", start)),
                    // Both are text, even if the second one is a quote.
                    _ => self.at += 1 + self.char_length(at + 1),
                },
                b'<' | b'>' if self.is_process_substitution(at) => {
                    return Err(self.unsupported("a process substitution in an expansion", at));
                }
                _ if at >= self.text.len() => return Err(self.unterminated("expansion", start)),
                _ => self.at += 1,
            }
        }
        let span = self.span_from(start);
        let text = self.slice(parts.start(), self.at);
        Ok(Word {
            parts: parts.finish(text).into_iter().collect(),
            span,
        })
    }

    /// Reads `'..'` in `"${x:-'..'}"`: the quotes are characters and the text between them is
    /// expanded, but they must be paired, and the second one is found before anything else is
    /// parsed.
    fn quotes_in_quotes(&mut self, parts: &mut QuotedParts<'a>) -> Result<()> {
        let start = self.at;
        let rest = self.slice(start + 1, self.text.len());
        let Some(length) = rest.find('\'') else {
            return Err(self.unterminated("quote", start));
        };
        let end = start + 1 + length;
        self.at += 1;
        self.bounded(end, |parser| {
            while parser.at < end {
                let at = parser.at;
                match parser.peek() {
                    b'$' => {
                        if let Some(part) = parser.quoted_expansion(Quoting::Double)? {
                            parts.push(parser.slice(parts.start(), at), part, parser.at);
                        }
                    }
                    b'"' | b'\\' | b'`' | b'}' | b'<' | b'>' => {
                        return Err(parser.unsupported("a quote of this kind in quotes", start));
                    }
                    _ => parser.at += 1,
                }
            }
            Ok(())
        })?;
        self.at = end + 1;
        Ok(())
    }
}
