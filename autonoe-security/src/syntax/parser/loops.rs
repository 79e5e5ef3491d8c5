//! Parses `for` in its two forms, and the body of every loop.

use super::bytes::{BREAK, NAME, NAME_START, is};
use super::keyword::Keyword;
use super::word::WordContext;
use super::{Parser, Result};
use crate::syntax::{ArithmeticFor, CommandKind, For, Script, Word};

impl<'a> Parser<'a> {
    /// Reads the rest of the command after `for`.
    pub(super) fn for_command(&mut self, start: usize) -> Result<CommandKind<'a>> {
        self.skip_blanks()?;
        if self.peek() == b'(' && self.peek_second() == b'(' {
            return self.arithmetic_for(start);
        }
        let name = self.at;
        if !is(self.peek(), NAME_START) {
            return Err(self.missing("the variable of the loop"));
        }
        self.at = self.run(name, NAME);
        let (variable, variable_span) = (self.slice(name, self.at), self.span_from(name));
        if self.is_continuation(self.at) {
            self.word_ends_at_continuation(self.at)?;
        } else if !is(self.peek(), BREAK) || self.is_process_substitution(self.at) {
            return Err(self.unexpected());
        }
        let words = self.for_words()?;
        let before = self.text[..self.at].trim_end_matches([' ', '\t']);
        let is_separated = before.ends_with([';', '\n']) && !before.ends_with("\\\n");
        let body = if is_separated {
            self.for_body(start)?
        } else {
            self.do_done("loop", start)?
        };
        Ok(CommandKind::For(Box::new(For {
            variable: variable.into(),
            variable_span,
            words,
            body,
            span: self.span_from(start),
        })))
    }

    /// Reads `in` with the words after it, up to `do`.
    fn for_words(&mut self) -> Result<Option<Vec<Word<'a>>>> {
        self.skip_blanks()?;
        if self.peek() == b';' && !self.is_end_of_arm() {
            self.at += 1;
            self.skip_lines()?;
            return Ok(None);
        }
        self.skip_lines()?;
        if !self.is_word(Keyword::In.text())? {
            return Ok(None);
        }
        self.at += Keyword::In.text().len();
        let mut words = Vec::new();
        loop {
            self.skip_blanks()?;
            if self.at < self.text.len() && self.at_end_of_line() {
                break;
            }
            if self.peek() == b';' && !self.is_end_of_arm() {
                self.at += 1;
                break;
            }
            if is(self.peek(), BREAK) && !self.is_process_substitution(self.at) {
                return Err(self.unexpected());
            }
            words.push(self.word(WordContext::Argument)?);
        }
        self.skip_lines()?;
        Ok(Some(words))
    }

    fn arithmetic_for(&mut self, start: usize) -> Result<CommandKind<'a>> {
        let open = self.at;
        self.at += 2;
        let clauses = self.arithmetic_clauses(open)?;
        self.behind_word = false;
        self.skip_blanks()?;
        if self.peek() == b';' && !self.is_end_of_arm() {
            self.at += 1;
        }
        self.skip_lines()?;
        let body = self.for_body(start)?;
        Ok(CommandKind::ArithmeticFor(Box::new(ArithmeticFor {
            clauses,
            body,
            span: self.span_from(start),
        })))
    }

    /// Reads `do ..; done` or `{ ..; }`.
    fn for_body(&mut self, start: usize) -> Result<Script<'a>> {
        if !self.is_word(Keyword::OpenBrace.text())? {
            return self.do_done("loop", start);
        }
        self.expect(Keyword::OpenBrace, "loop", start)?;
        let body = self.commands()?;
        self.expect(Keyword::CloseBrace, "loop", start)?;
        Ok(body)
    }

    /// Reads `do ..; done`.
    pub(super) fn do_done(&mut self, construct: &'static str, start: usize) -> Result<Script<'a>> {
        self.expect(Keyword::Do, construct, start)?;
        let body = self.commands()?;
        self.expect(Keyword::Done, construct, start)?;
        Ok(body)
    }
}
