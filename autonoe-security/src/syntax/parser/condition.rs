//! Parses `[[ .. ]]`.

use super::bytes::{BREAK, is};
use super::keyword::Keyword;
use super::word::WordContext;
use super::{Parser, Result};
use crate::syntax::{Condition, Span, Text, Word};

/// Operators with one operand, such as `-f`.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

/// Operators with two operands that are words.
const BINARY: [&str; 13] = [
    "==", "=~", "=", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
];

impl<'a> Parser<'a> {
    /// Reads the condition after `[[`, up to `]]`.
    pub(super) fn condition(&mut self, start: usize) -> Result<Condition<'a>> {
        let condition = self.disjunction()?;
        if !self.is_word(Keyword::CloseCondition.text())? {
            return Err(self.not_closed("condition", start));
        }
        self.at += Keyword::CloseCondition.text().len();
        Ok(condition)
    }

    fn disjunction(&mut self) -> Result<Condition<'a>> {
        let left = self.conjunction()?;
        if (self.peek(), self.peek_second()) != (b'|', b'|') {
            return Ok(left);
        }
        self.at += 2;
        let right = self.nested(Self::disjunction)?;
        Ok(Condition::Or(Box::new(left), Box::new(right)))
    }

    fn conjunction(&mut self) -> Result<Condition<'a>> {
        let left = self.term()?;
        if (self.peek(), self.peek_second()) != (b'&', b'&') {
            return Ok(left);
        }
        self.at += 2;
        let right = self.nested(Self::conjunction)?;
        Ok(Condition::And(Box::new(left), Box::new(right)))
    }

    /// Reads a term and the blanks after it.
    fn term(&mut self) -> Result<Condition<'a>> {
        self.skip_lines_in_condition()?;
        if self.peek() == b'(' {
            return self.group();
        }
        if self.peek() == b'!' && is(self.peek_second(), BREAK) {
            let start = self.at;
            self.at += 1;
            let inner = self.nested(Self::term)?;
            let span = Span::new(start, inner.span().end());
            return Ok(Condition::Not(Box::new(inner), span));
        }
        let start = self.at;
        if let Some(operator) = self.unary_operator()? {
            let operand = self.condition_word(WordContext::Plain)?;
            self.skip_lines_in_condition()?;
            let span = Span::new(start, operand.span.end());
            return Ok(Condition::Unary {
                operator,
                operand,
                span,
            });
        }
        let left = self.condition_word(WordContext::Plain)?;
        self.skip_blanks()?;
        let Some(operator) = self.binary_operator()? else {
            return Ok(Condition::Word(left));
        };
        let right = match operator {
            "=~" => self.regular_expression()?,
            "==" | "=" | "!=" => self.condition_word(WordContext::Pattern)?,
            _ => self.condition_word(WordContext::Plain)?,
        };
        self.skip_lines_in_condition()?;
        let span = left.span.to(right.span);
        Ok(Condition::Binary {
            operator: operator.into(),
            left,
            right,
            span,
        })
    }

    fn group(&mut self) -> Result<Condition<'a>> {
        let start = self.at;
        self.at += 1;
        let inner = self.nested(Self::disjunction)?;
        if self.peek() != b')' {
            return Err(self.not_closed("parenthesis", start));
        }
        self.at += 1;
        let span = self.span_from(start);
        self.skip_lines_in_condition()?;
        Ok(Condition::Group(Box::new(inner), span))
    }

    /// Reads an operator such as `-f` and the blanks after it, if present.
    fn unary_operator(&mut self) -> Result<Option<Text<'a>>> {
        let start = self.at;
        if self.peek() != b'-' || !UNARY.contains(&self.peek_second()) {
            return Ok(None);
        }
        let operator = self.slice(start, start + 2);
        if !self.is_word(operator)? {
            return Ok(None);
        }
        self.at += 2;
        self.skip_blanks()?;
        Ok(Some(operator.into()))
    }

    /// Reads an operator between two words and the blanks after it; `None` if the term ends here.
    fn binary_operator(&mut self) -> Result<Option<&'a str>> {
        let start = self.at;
        match (self.peek(), self.peek_second()) {
            (b'&', b'&') | (b'|', b'|') | (b')', _) => return Ok(None),
            (b'<' | b'>', b'<' | b'>' | b'&' | b'|' | b'(') => return Err(self.unexpected()),
            (b'<' | b'>', _) => self.at += 1,
            _ => {
                if self.is_word(Keyword::CloseCondition.text())? {
                    return Ok(None);
                }
                for operator in BINARY {
                    if self.is_word(operator)? {
                        self.at += operator.len();
                        break;
                    }
                }
                if self.at == start {
                    return Err(self.not_closed("condition", start));
                }
            }
        }
        let operator = self.slice(start, self.at);
        self.skip_blanks()?;
        Ok(Some(operator))
    }

    fn condition_word(&mut self, place: WordContext) -> Result<Word<'a>> {
        let start = self.at;
        let breaks = is(self.peek(), BREAK) && !self.is_process_substitution(start);
        let closes = self.is_word(Keyword::CloseCondition.text())?;
        if breaks || closes || self.peek() == b'#' {
            return Err(self.missing("a word of the condition"));
        }
        let word = self.word(place)?;
        self.refuse_number_before_redirect(start)?;
        Ok(word)
    }

    fn skip_lines_in_condition(&mut self) -> Result<()> {
        let start = self.at;
        self.skip_blanks()?;
        if self.at_end_of_line() && self.has_pending_documents() {
            return Err(self.unsupported("a here-document around a condition", start));
        }
        self.skip_lines()
    }
}
