//! Parses lists of commands.

use super::keyword::Keyword;
use super::{Parser, Result};
use crate::syntax::{Connector, Item, Runs, Script, SmallVec, Span, SyntaxErrorKind};

/// The next element where a command may start.
enum Next {
    /// A command, with the reserved word that it starts with.
    Command(Option<Keyword>),
    /// The end of the list.
    End,
}

impl<'a> Parser<'a> {
    /// Reads commands up to the end of the list: the end of the text, `)`, `;;` and similar tokens,
    /// or a reserved word. The caller handles it.
    pub(super) fn list(&mut self) -> Result<Script<'a>> {
        let mut items = Vec::new();
        self.behind_word = false;
        loop {
            self.skip_lines()?;
            let Next::Command(keyword) = self.next_command()? else {
                break;
            };
            let mut item = self.item(keyword)?;
            let continues = self.separator(&mut item.runs)?;
            if items.is_empty() {
                items.reserve_exact(1);
            }
            items.push(item);
            if !continues {
                break;
            }
        }
        Ok(Script {
            span: span_of(&items, self.at),
            items,
        })
    }

    /// Reads a list that must have a command.
    pub(super) fn commands(&mut self) -> Result<Script<'a>> {
        let script = self.list()?;
        if script.items.is_empty() {
            return Err(self.error_here(SyntaxErrorKind::Missing("a command")));
        }
        Ok(script)
    }

    fn next_command(&self) -> Result<Next> {
        match self.peek() {
            0 | b')' => Ok(Next::End),
            b';' if self.is_end_of_arm() => Ok(Next::End),
            _ => match self.keyword()? {
                Some(keyword) if keyword.ends_list() => Ok(Next::End),
                keyword => Ok(Next::Command(keyword)),
            },
        }
    }

    /// Returns whether `;;`, `;&` or `;;&` is next.
    pub(super) fn is_end_of_arm(&self) -> bool {
        self.peek() == b';' && matches!(self.peek_second(), b';' | b'&')
    }

    /// Reads the separator after an item, and returns whether another item may follow.
    fn separator(&mut self, runs: &mut Runs) -> Result<bool> {
        self.skip_blanks()?;
        match self.peek() {
            0 | b')' => return Ok(false),
            b'\n' | b'#' => {}
            b';' if self.is_end_of_arm() => return Ok(false),
            b';' => self.at += 1,
            b'&' => {
                self.at += 1;
                *runs = Runs::InBackground;
            }
            _ if self.behind_word => return Err(self.unexpected()),
            // `if (a) then b; fi`: a reserved word may follow a closing one.
            _ => return Ok(false),
        }
        self.behind_word = false;
        Ok(true)
    }

    /// Reads pipelines joined by `&&` and `
    ///
    /// `.
    fn item(&mut self, first: Option<Keyword>) -> Result<Item<'a>> {
        let start = self.at;
        let mut end;
        let mut keyword = first;
        let mut connector = Connector::First;
        let mut pipelines = SmallVec::default();
        loop {
            let pipeline = self.pipeline(keyword)?;
            end = pipeline.span.end();
            pipelines.push((connector, pipeline));
            self.skip_blanks()?;
            connector = match (self.peek(), self.peek_second()) {
                (b'&', b'&') => Connector::And,
                (b'|', b'|') => Connector::Or,
                _ => break,
            };
            self.at += 2;
            self.behind_word = false;
            self.skip_lines()?;
            keyword = self.keyword()?;
        }
        Ok(Item {
            pipelines,
            runs: Runs::InOrder,
            span: Span::new(start, end),
        })
    }
}

fn span_of(items: &[Item<'_>], at: usize) -> Span {
    match (items.first(), items.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => Span::new(at, at),
    }
}
