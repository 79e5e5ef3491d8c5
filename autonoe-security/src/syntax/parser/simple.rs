//! Parses simple commands: assignments, words and redirections.

use super::bytes::{ACTIVE, BREAK, NAME, NAME_START, is};
use super::word::WordContext;
use super::{Parser, Result, budget};
use crate::syntax::{
    ArgWord, Command, CommandKind, SimpleCommand, Span, SyntaxError, SyntaxErrorKind, Word,
};

impl<'a> Parser<'a> {
    /// Reads a simple command, up to its end.
    pub(super) fn simple_command(&mut self) -> Result<Command<'a>> {
        let start = self.at;
        let mut end = start;
        let mut redirects = Vec::new();
        let mut simple = SimpleCommand::default();
        let mut takes_arrays = false;
        loop {
            self.skip_blanks()?;
            let next = self.peek();
            if is(next, BREAK) || next.is_ascii_digit() {
                if let Some(redirect) = self.redirect()? {
                    end = redirect.span.end();
                    redirects.push(redirect);
                    takes_arrays = false;
                    continue;
                }
                if is(next, BREAK) && !self.is_process_substitution(self.at) {
                    break;
                }
            }
            if next == b'#' {
                break;
            }
            if simple.words.is_empty() {
                if let Some(assignment) = self.leading_assignment(redirects.is_empty())? {
                    simple.assignments.push(assignment);
                    end = self.at;
                    continue;
                }
                takes_arrays = redirects.is_empty() && self.is_declaration();
                if self.at > start && self.keyword()?.is_some() {
                    // In a substitution Bash prints redirections after the words and parses the
                    // text again; then it is a reserved word.
                    return Err(self.unsupported("a reserved word as a name", self.at));
                }
            } else if takes_arrays && self.begins_array() {
                let array = self.assignment()?;
                simple.words.push(ArgWord::Array(Box::new(array)));
                end = self.at;
                continue;
            }
            let word = match self.plain_word() {
                Some(word) => {
                    self.spend(budget::WORD)?;
                    word
                }
                None => self.argument()?,
            };
            simple.words.push(ArgWord::Word(word));
            end = self.at;
        }
        if end == start {
            return Err(self.missing("a command"));
        }
        simple.span = span_of(&simple, start);
        if self.peek() == b'(' {
            return Err(self.misplaced_parenthesis(&simple));
        }
        self.behind_word = true;
        Ok(Command {
            kind: CommandKind::Simple(simple),
            redirects,
            span: Span::new(start, end),
        })
    }

    /// Reads a word of the command.
    fn argument(&mut self) -> Result<Word<'a>> {
        let start = self.at;
        let word = self.word(WordContext::Argument)?;
        self.refuse_named_descriptor(start)?;
        Ok(word)
    }

    /// Returns whether the next word is the name of a command after which Bash reads arrays.
    fn is_declaration(&self) -> bool {
        let length = self.find(self.at, ACTIVE) - self.at;
        let name = self.slice(self.at, self.at + length);
        (5..=8).contains(&length)
            && is(self.byte(self.at + length), BREAK)
            && !self.is_process_substitution(self.at + length)
            && matches!(
                name,
                "declare" | "typeset" | "local" | "readonly" | "export"
            )
    }

    /// Returns whether `NAME=(` or `NAME+=(` is next.
    fn begins_array(&self) -> bool {
        if !is(self.peek(), NAME_START) {
            return false;
        }
        let rest = self.slice(self.run(self.at, NAME), self.text.len());
        rest.starts_with("=(") || rest.starts_with("+=(")
    }

    fn misplaced_parenthesis(&self, simple: &SimpleCommand<'_>) -> SyntaxError {
        let before = self.at.checked_sub(1).map_or(0, |at| self.byte(at));
        if matches!(before, b'?' | b'*' | b'+' | b'@' | b'!') {
            return self.unsupported("an extended glob", self.at - 1);
        }
        if simple.words.len() == 1 && simple.assignments.is_empty() {
            return self.unsupported("a function definition", self.at);
        }
        self.error_here(SyntaxErrorKind::Unexpected)
    }
}

/// Returns the span from the first assignment or word to the last, or an empty one at `start`.
fn span_of(simple: &SimpleCommand<'_>, start: usize) -> Span {
    let words = simple.words.iter().map(ArgWord::span);
    let mut spans = simple.assignments.iter().map(|it| it.span).chain(words);
    let first = spans.next().unwrap_or(Span::new(start, start));
    spans.next_back().map_or(first, |last| first.to(last))
}
