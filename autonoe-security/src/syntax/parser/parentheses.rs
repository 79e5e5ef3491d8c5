//! Decides whether `((` at the start of a command is arithmetic or two subshells.
//!
//! Bash looks for the parenthesis that closes the second one by counting, while it skips quotes
//! only. If another closing parenthesis follows directly, it is arithmetic, otherwise two
//! subshells. A single scan of the text answers this for all nested parentheses.

use super::flat::end_of_quote;
use super::{Parser, Result};

/// The meaning of `((`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DoubleParenthesis {
    Arithmetic,
    Subshells,
}

/// Known facts about the parentheses of the text, by the position of the opening one.
#[derive(Default)]
pub(super) struct Parentheses {
    /// The position of the first element of `known`.
    base: usize,
    known: Vec<Closing>,
}

/// The position at which a parenthesis is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// Not determined yet.
    Unknown,
    /// Counting alone does not determine it.
    Unclear,
    /// Not in this text.
    Nowhere,
    /// At this position.
    At(usize),
}

impl Parser<'_> {
    /// Decides about the `((` here.
    pub(super) fn double_parenthesis(&mut self) -> Result<DoubleParenthesis> {
        let inner = self.at + 1;
        if self.parentheses.closing_at(inner) == Closing::Unknown {
            self.scan_parentheses(inner);
        }
        match self.parentheses.closing_at(inner) {
            Closing::Nowhere => Err(self.unterminated("parenthesis", inner)),
            // Bash misreads the line when it parses it again.
            Closing::At(at) if matches!(self.byte(at + 1), b'\n' | 0) => {
                Err(self.unsupported("a subshell directly behind a parenthesis", self.at))
            }
            Closing::At(at) if self.byte(at + 1) != b')' => Ok(DoubleParenthesis::Subshells),
            // If counting does not determine it, the expression is parsed as arithmetic, and
            // rejected if it is not.
            Closing::At(_) | Closing::Unclear | Closing::Unknown => {
                Ok(DoubleParenthesis::Arithmetic)
            }
        }
    }

    /// Finds the closing positions of the parenthesis at `start` and those in it.
    fn scan_parentheses(&mut self, start: usize) {
        if self.parentheses.known.is_empty() {
            self.parentheses.base = start;
        }
        let mut open = Vec::new();
        // The last element that makes counting uncertain for the text around it.
        let mut uncertain = None;
        let mut at = start;
        let mut rest = Closing::Nowhere;
        loop {
            match self.byte(at) {
                b'(' => {
                    if at > start && self.byte(at - 1) == b'$' {
                        uncertain = Some(at);
                    }
                    open.push(at);
                }
                b')' => {
                    let Some(opened) = open.pop() else { break };
                    let closing = match uncertain {
                        Some(place) if place >= opened => Closing::Unclear,
                        _ => Closing::At(at),
                    };
                    self.parentheses.set(opened, closing);
                    if open.is_empty() {
                        return;
                    }
                }
                b'\\' => at += 1,
                quote @ (b'\'' | b'"' | b'`') => match self.end_of_quote(at, quote) {
                    Some(end) => at = end,
                    None => {
                        rest = Closing::Unclear;
                        break;
                    }
                },
                0 => break,
                _ => {}
            }
            at += 1;
        }
        for opened in open {
            self.parentheses.set(opened, rest);
        }
    }

    /// Returns the end of the quote that starts at `start`, if it is easy to determine.
    fn end_of_quote(&self, start: usize, quote: u8) -> Option<usize> {
        if start > 0 && self.byte(start - 1) == b'$' {
            return None;
        }
        end_of_quote(self.text.as_bytes(), start, quote)
    }
}

impl Parentheses {
    fn closing_at(&self, at: usize) -> Closing {
        let known = at.checked_sub(self.base).and_then(|at| self.known.get(at));
        known.copied().unwrap_or(Closing::Unknown)
    }

    fn set(&mut self, at: usize, closing: Closing) {
        let Some(at) = at.checked_sub(self.base) else {
            return;
        };
        if self.known.len() <= at {
            self.known.resize(at + 1, Closing::Unknown);
        }
        if let Some(known) = self.known.get_mut(at) {
            *known = closing;
        }
    }
}
