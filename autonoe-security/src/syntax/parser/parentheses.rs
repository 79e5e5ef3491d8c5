//! What `((` means where a command may begin.
//!
//! Bash looks for the parenthesis that closes the second one, by counting, with
//! an eye on quotes only. If another one follows directly it is arithmetic, else
//! there are two subshells. One look at the text answers this for all
//! parentheses that stand in each other.

use super::flat::end_of_quote;
use super::{Parser, Result};

/// What `((` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Arithmetic,
    Subshells,
}

/// What is known about the parentheses of the text, by the place of the opening one.
#[derive(Default)]
pub(super) struct Parentheses {
    /// The place that the first of `known` is about.
    base: usize,
    known: Vec<Closing>,
}

/// Where a parenthesis is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// Nobody has looked.
    Unknown,
    /// Counting alone does not tell.
    Unclear,
    /// Not in this text.
    Nowhere,
    /// Here.
    At(usize),
}

impl Parser<'_> {
    /// Decides about the `((` that stands here.
    pub(super) fn double_parenthesis(&mut self) -> Result<Meaning> {
        let inner = self.at + 1;
        if self.parentheses.of(inner) == Closing::Unknown {
            self.look_for_parentheses(inner);
        }
        match self.parentheses.of(inner) {
            Closing::Nowhere => Err(self.unterminated("parenthesis", inner)),
            // Bash loses its way when it reads the line again.
            Closing::At(at) if matches!(self.byte(at + 1), b'\n' | 0) => {
                Err(self.unsupported("a subshell directly behind a parenthesis", self.at))
            }
            Closing::At(at) if self.byte(at + 1) != b')' => Ok(Meaning::Subshells),
            // Where counting does not tell, the expression is read for arithmetic,
            // and refused if it is none.
            Closing::At(_) | Closing::Unclear | Closing::Unknown => Ok(Meaning::Arithmetic),
        }
    }

    /// Finds where the parenthesis at `start` and those in it are closed.
    fn look_for_parentheses(&mut self, start: usize) {
        if self.parentheses.known.is_empty() {
            self.parentheses.base = start;
        }
        let mut open = Vec::new();
        // The last thing that makes counting uncertain for what is around it.
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

    /// Where the quote that begins at `start` ends, if it is easy to tell.
    fn end_of_quote(&self, start: usize, quote: u8) -> Option<usize> {
        if start > 0 && self.byte(start - 1) == b'$' {
            return None;
        }
        end_of_quote(self.text.as_bytes(), start, quote)
    }
}

impl Parentheses {
    fn of(&self, at: usize) -> Closing {
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
