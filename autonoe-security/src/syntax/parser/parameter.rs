//! Parses `${..}`.

use super::bytes::{NAME, NAME_START, is};
use super::dollar::Quoting;
use super::{Parser, Result};
use crate::syntax::{Operation, Parameter, Subscript, Substitute, SyntaxErrorKind, Text};

impl<'a> Parser<'a> {
    /// Reads `${..}`.
    pub(super) fn braced_parameter(&mut self, quoting: Quoting) -> Result<Parameter<'a>> {
        let start = self.at;
        self.at += 2;
        let (name, subscript, operation) = match (self.peek(), self.peek_second()) {
            (b' ' | b'\t' | b'\n' | b'|' | b'(', _) => {
                return Err(self.unsupported("a command in ${ }", start));
            }
            (b'#' | b'!', b'}') => (self.special(), None, Operation::Value),
            (b'#', _) => {
                self.at += 1;
                let (name, subscript) = self.subject(quoting)?;
                (name, subscript, Operation::Length)
            }
            (b'!', _) => self.listing(start, quoting)?,
            _ => {
                let (name, subscript) = self.subject(quoting)?;
                let operation = self.operation(&name, quoting)?;
                (name, subscript, operation)
            }
        };
        if self.peek() != b'}' {
            return Err(self.not_closed("expansion", start));
        }
        self.at += 1;
        Ok(Parameter {
            name,
            subscript,
            operation,
            span: self.span_from(start),
        })
    }

    /// Reads the parameter.
    fn subject(&mut self, quoting: Quoting) -> Result<(Text<'a>, Option<Subscript<'a>>)> {
        let start = self.at;
        let next = self.peek();
        if is(next, NAME_START) {
            self.at = self.run(start, NAME);
            let name = self.slice(start, self.at).into();
            let subscript = match self.peek() {
                b'[' => Some(self.subscript(quoting)?),
                _ => None,
            };
            return Ok((name, subscript));
        }
        if next.is_ascii_digit() {
            while self.peek().is_ascii_digit() {
                self.at += 1;
            }
            return Ok((self.slice(start, self.at).into(), None));
        }
        match next {
            b'@' | b'*' | b'?' | b'-' | b'$' => Ok((self.special(), None)),
            _ => Err(self.not_closed("expansion", start)),
        }
    }

    fn special(&mut self) -> Text<'a> {
        self.at += 1;
        self.slice(self.at - 1, self.at).into()
    }

    /// Reads `!a[@]`, `!a[*]`, `!p*` or `!p@`.
    fn listing(
        &mut self,
        start: usize,
        quoting: Quoting,
    ) -> Result<(Text<'a>, Option<Subscript<'a>>, Operation<'a>)> {
        self.at += 1;
        if !is(self.peek(), NAME_START) {
            return Err(self.unsupported("an indirect expansion", start));
        }
        let (name, subscript) = self.subject(quoting)?;
        match (&subscript, self.peek(), self.peek_second()) {
            (Some(Subscript::All), b'}', _) => Ok((name, subscript, Operation::Keys)),
            (None, b'*' | b'@', b'}') => {
                self.at += 1;
                Ok((name, None, Operation::Names))
            }
            _ => Err(self.unsupported("an indirect expansion", start)),
        }
    }

    /// Reads the operation after the name, up to the closing brace.
    fn operation(&mut self, name: &str, quoting: Quoting) -> Result<Operation<'a>> {
        let start = self.at;
        let next = self.peek();
        if next == b'}' {
            return Ok(Operation::Value);
        }
        if matches!(name, "?" | "-" | "$") {
            // They are not needed, and Bash parses them in special ways.
            return Err(self.unsupported("an operation on this parameter", start));
        }
        let colon = next == b':';
        if colon {
            self.at += 1;
        }
        if let Some(when) = substitute(self.peek()) {
            self.at += 1;
            let word = self.value_operand(quoting)?;
            return Ok(Operation::Substitute { when, colon, word });
        }
        if colon {
            return self.substring(quoting);
        }
        match next {
            b'#' | b'%' => {
                self.at += if self.peek_second() == next { 2 } else { 1 };
                let pattern = self.pattern_operand(quoting, false)?;
                Ok(Operation::Trim { pattern })
            }
            b'^' | b',' => {
                self.at += if self.peek_second() == next { 2 } else { 1 };
                let pattern = self.pattern_operand(quoting, false)?;
                Ok(Operation::ChangeCase { pattern })
            }
            b'/' => self.replacement(quoting),
            b'@' => self.transformation(start),
            _ => Err(self.not_closed("expansion", start)),
        }
    }

    fn replacement(&mut self, quoting: Quoting) -> Result<Operation<'a>> {
        self.at += 1;
        if matches!(self.peek(), b'/' | b'#' | b'%') {
            self.at += 1;
        }
        let pattern = self.pattern_operand(quoting, true)?;
        let replacement = match self.peek() {
            b'/' => {
                self.at += 1;
                Some(self.pattern_operand(quoting, false)?)
            }
            _ => None,
        };
        self.check_flat(&pattern.parts)?;
        if let Some(replacement) = &replacement {
            self.check_flat(&replacement.parts)?;
        }
        Ok(Operation::Replace {
            pattern,
            replacement,
        })
    }

    fn transformation(&mut self, start: usize) -> Result<Operation<'a>> {
        let letter = self.peek_second();
        self.at += 2;
        match letter {
            b'P' => Err(self.unsupported("the expansion of a prompt", start)),
            b'U' | b'u' | b'L' | b'Q' | b'E' | b'A' | b'K' | b'a' | b'k' => {
                Ok(Operation::Transform(char::from(letter)))
            }
            _ => {
                self.at = start;
                Err(self.error_here(SyntaxErrorKind::Unexpected))
            }
        }
    }
}

fn substitute(operator: u8) -> Option<Substitute> {
    match operator {
        b'-' => Some(Substitute::Default),
        b'=' => Some(Substitute::Assign),
        b'?' => Some(Substitute::Error),
        b'+' => Some(Substitute::Alternative),
        _ => None,
    }
}
