//! Parses `case`.

use super::bytes::{BREAK, is};
use super::keyword::Keyword;
use super::word::WordContext;
use super::{Parser, Result};
use crate::syntax::{Case, CaseArm, Word};

impl<'a> Parser<'a> {
    /// Reads the rest of the command after `case`.
    pub(super) fn case_command(&mut self, start: usize) -> Result<Case<'a>> {
        self.skip_blanks()?;
        let subject = self.case_word("the word of the case")?;
        self.skip_lines()?;
        if !self.is_word(Keyword::In.text())? {
            return Err(self.not_closed("case", start));
        }
        self.at += Keyword::In.text().len();
        let mut arms = Vec::new();
        let mut last = false;
        loop {
            self.skip_lines()?;
            if self.is_word(Keyword::Esac.text())? {
                self.at += Keyword::Esac.text().len();
                let span = self.span_from(start);
                return Ok(Case {
                    subject,
                    arms,
                    span,
                });
            }
            if last || self.at >= self.text.len() {
                return Err(self.not_closed("case", start));
            }
            let arm = self.at;
            let patterns = self.patterns(start)?;
            let body = self.list()?;
            last = !self.end_of_arm();
            let span = self.span_from(arm);
            arms.push(CaseArm {
                patterns,
                body,
                span,
            });
            if last && self.behind_word {
                return Err(self.not_closed("case", start));
            }
        }
    }

    /// Reads patterns up to the `)` after them.
    fn patterns(&mut self, start: usize) -> Result<Vec<Word<'a>>> {
        if self.peek() == b'(' {
            self.at += 1;
            self.skip_blanks()?;
        }
        let mut patterns = Vec::with_capacity(1);
        loop {
            if self.is_word(Keyword::Esac.text())? {
                // Bash loses its parenthesis when it prints the command and parses it again.
                return Err(self.unsupported("esac as a pattern", self.at));
            }
            patterns.push(self.case_word("a pattern")?);
            self.skip_blanks()?;
            match self.peek() {
                b'|' if !matches!(self.peek_second(), b'|' | b'&') => self.at += 1,
                b')' => {
                    self.at += 1;
                    return Ok(patterns);
                }
                _ => return Err(self.not_closed("case", start)),
            }
            self.skip_blanks()?;
        }
    }

    /// Reads a word without brace expansion.
    fn case_word(&mut self, construct: &'static str) -> Result<Word<'a>> {
        let breaks = is(self.peek(), BREAK) && !self.is_process_substitution(self.at);
        if breaks || self.peek() == b'#' {
            return Err(self.missing(construct));
        }
        let start = self.at;
        let word = self.word(WordContext::Plain)?;
        self.refuse_number_before_redirect(start)?;
        Ok(word)
    }

    /// Reads `;;`, `;&` or `;;&`, if present.
    fn end_of_arm(&mut self) -> bool {
        if !self.is_end_of_arm() {
            return false;
        }
        let three = self.peek_second() == b';' && self.byte(self.at + 2) == b'&';
        self.at += if three { 3 } else { 2 };
        self.behind_word = false;
        true
    }
}
