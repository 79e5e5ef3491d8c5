//! Parses expansions that start with `$`.

use super::bytes::{NAME, NAME_START, is};
use super::{Parser, Result, budget};
use crate::syntax::{Operation, Parameter, Part};

/// The quoting around an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// No quoting.
    None,
    /// Double quotes.
    Double,
    /// The body of a here-document.
    HereDocument,
}

impl<'a> Parser<'a> {
    /// Reads the expansion that the `$` here starts; `None` if it is a plain character, which is
    /// not consumed.
    pub(super) fn dollar(&mut self, quoting: Quoting) -> Result<Option<Part<'a>>> {
        self.spend(budget::EXPANSION)?;
        let start = self.at;
        let next = self.peek_second();
        match next {
            _ if is(next, NAME_START) => {
                let end = self.run(start + 1, NAME);
                Ok(Some(self.simple_parameter(end)))
            }
            b'$' if matches!(self.byte(start + 2), b'(' | b'{' | b'[') => {
                // When Bash looks for the end of quotes, it takes the second `$` for the start of
                // an expansion, and finds another end.
                Err(self.unsupported("$$ directly before a parenthesis or brace", start))
            }
            b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                Ok(Some(self.simple_parameter(start + 2)))
            }
            b'{' => self
                .nested(|parser| parser.braced_parameter(quoting))
                .map(|parameter| Some(Part::Parameter(Box::new(parameter)))),
            b'(' if self.byte(start + 2) == b'(' => {
                self.at += 3;
                let arithmetic = self.nested(|parser| parser.arithmetic_in_parentheses(start))?;
                Ok(Some(Part::Arithmetic(Box::new(arithmetic))))
            }
            b'(' => self.command_substitution().map(Some),
            b'[' => Err(self.unsupported("arithmetic in brackets", start)),
            b'\'' if quoting == Quoting::None => self.ansi_c_quoted().map(Some),
            b'"' if quoting == Quoting::None => {
                // Bash looks up a translation of the text and expands it.
                Err(self.unsupported("a translated string", start))
            }
            b'\\' if self.is_continuation(start + 1) => Err(self.joins(start + 1)),
            _ => Ok(None),
        }
    }

    /// Reads `$name`, which extends to `end`.
    fn simple_parameter(&mut self, end: usize) -> Part<'a> {
        let start = self.at;
        self.at = end;
        Part::Parameter(Box::new(Parameter {
            name: self.slice(start + 1, end).into(),
            subscript: None,
            operation: Operation::Value,
            span: self.span_from(start),
        }))
    }
}
