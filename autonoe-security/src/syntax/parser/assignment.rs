//! Parses assignments and arrays.

use super::bytes::{BREAK, NAME, NAME_START, is};
use super::word::WordContext;
use super::{Parser, Result, budget};
use crate::syntax::{ArrayElement, AssignedValue, Assignment, Span, Word};

impl<'a> Parser<'a> {
    /// Reads an assignment before a command name, if there is one.
    pub(super) fn leading_assignment(
        &mut self,
        before_redirects: bool,
    ) -> Result<Option<Assignment<'a>>> {
        if !is(self.peek(), NAME_START) {
            return Ok(None);
        }
        let end = self.run(self.at, NAME);
        match (self.byte(end), self.byte(end + 1)) {
            (b'=', b'(') | (b'[', _) if !before_redirects => {
                // Whether Bash accepts these depends on the text before the redirection.
                Err(self.unsupported("an array behind a redirection", self.at))
            }
            (b'+', b'=') if !before_redirects && self.byte(end + 2) == b'(' => {
                Err(self.unsupported("an array behind a redirection", self.at))
            }
            (b'=' | b'[', _) | (b'+', b'=') => self.assignment().map(Some),
            _ => Ok(None),
        }
    }

    /// Reads an assignment, after checking that its name and operator or bracket follow.
    pub(super) fn assignment(&mut self) -> Result<Assignment<'a>> {
        self.spend(budget::EXPANSION)?;
        let start = self.at;
        self.at = self.run(start, NAME);
        let name = self.slice(start, self.at).into();
        let subscript = match self.peek() {
            b'[' => Some(self.subscript(super::dollar::Quoting::None)?),
            _ => None,
        };
        let appends = self.peek() == b'+';
        if appends {
            self.at += 1;
        }
        if self.peek() != b'=' {
            return Err(self.unsupported("a subscript in the name of a command", start));
        }
        self.at += 1;
        let value = match self.peek() {
            b'(' if subscript.is_some() => return Err(self.unexpected()),
            b'(' => AssignedValue::Array(self.array()?),
            _ => AssignedValue::Word(self.value()?),
        };
        Ok(Assignment {
            name,
            subscript,
            appends,
            value,
            span: self.span_from(start),
        })
    }

    /// Reads the string after `=`, which may be empty.
    fn value(&mut self) -> Result<Word<'a>> {
        if is(self.peek(), BREAK) && !self.is_process_substitution(self.at) {
            return Ok(Word {
                parts: Default::default(),
                span: Span::new(self.at, self.at),
            });
        }
        self.word(WordContext::Value)
    }

    /// Reads `( .. )` after `=`.
    fn array(&mut self) -> Result<Vec<ArrayElement<'a>>> {
        let start = self.at;
        self.at += 1;
        let mut elements = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.peek() {
                b')' => break,
                b'\n' if self.has_pending_documents() => {
                    return Err(self.unsupported("a here-document around an array", start));
                }
                b'\n' => self.at += 1,
                b'#' => self.skip_comment()?,
                _ => elements.push(self.array_element(start)?),
            }
        }
        self.at += 1;
        if !is(self.peek(), BREAK) || self.is_process_substitution(self.at) {
            return Err(self.unexpected());
        }
        Ok(elements)
    }

    fn array_element(&mut self, start: usize) -> Result<ArrayElement<'a>> {
        let element = self.at;
        if is(self.peek(), BREAK) && !self.is_process_substitution(self.at) {
            return Err(self.not_closed("array", start));
        }
        if self.peek() == b'[' && self.has_subscript()? {
            let subscript = Some(self.subscript(super::dollar::Quoting::None)?);
            if self.peek() != b'=' {
                return Err(self.unexpected());
            }
            self.at += 1;
            let value = self.element_value()?;
            let span = self.span_from(element);
            return Ok(ArrayElement {
                subscript,
                value,
                span,
            });
        }
        let value = self.word(WordContext::Element)?;
        let span = value.span;
        Ok(ArrayElement {
            subscript: None,
            value,
            span,
        })
    }

    /// Reads the value after `[subscript]=`. Bash would expand braces in it into elements of
    /// another kind, which is never intended.
    fn element_value(&mut self) -> Result<Word<'a>> {
        let start = self.at;
        let value = self.value()?;
        let raw = self.slice(start, self.at);
        if raw.contains('{') && (raw.contains(',') || raw.contains("..")) {
            return Err(self.unsupported("a brace expansion behind a subscript", start));
        }
        Ok(value)
    }

    /// Returns whether the `[` at the start of an element starts a subscript, or a file name
    /// pattern.
    fn has_subscript(&self) -> Result<bool> {
        let mut depth = 0_usize;
        let mut at = self.at;
        loop {
            match self.byte(at) {
                b'[' => depth += 1,
                b']' => depth -= 1,
                b'\'' | b'"' | b'$' | b' ' | b'\t' => return Ok(true),
                b'`' | b'\\' => return Err(self.unsupported("an element of this kind", self.at)),
                byte if is(byte, BREAK) => return Err(self.unterminated("bracket", self.at)),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Ok(matches!(self.byte(at), b'=' | b'+'));
            }
        }
    }
}
