//! What `$` begins.

use super::bytes::{NAME, NAME_START, is};
use super::{Parser, Result, budget};
use crate::syntax::{Operation, Parameter, Part};

/// What protects the place where an expansion stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Nothing.
    None,
    /// Double quotes.
    Double,
    /// The body of a here-document.
    HereDocument,
}

impl<'a> Parser<'a> {
    /// Reads what the `$` here begins; `None` if it is only a character, which is not read.
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
                // Where Bash looks for the end of quotes, it takes the second `$` for
                // the beginning of an expansion, and finds another end.
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
                // Bash looks the text up elsewhere and expands what it finds.
                Err(self.unsupported("a translated string", start))
            }
            b'\\' if self.is_continuation(start + 1) => Err(self.joins(start + 1)),
            _ => Ok(None),
        }
    }

    /// Reads `$name`, which reaches to `end`.
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
