//! Pipelines.

use super::keyword::Keyword;
use super::{Parser, Result};
use crate::syntax::{Command, CommandKind, Few, Pipeline, SimpleCommand, Span};

impl<'a> Parser<'a> {
    /// Reads `!` and `time`, then commands that `|` and `|&` join.
    pub(super) fn pipeline(&mut self, keyword: Option<Keyword>) -> Result<Pipeline<'a>> {
        let start = self.at;
        let (mut timed, mut negated) = (false, false);
        let mut keyword = keyword;
        loop {
            match keyword {
                Some(Keyword::Bang) => {
                    if self.peek_second() == b'(' {
                        return Err(self.unsupported("an extended glob", start));
                    }
                    self.at += 1;
                    negated = !negated;
                }
                Some(Keyword::Time) => {
                    self.at += Keyword::Time.text().len();
                    timed = true;
                    self.time_options()?;
                }
                _ => break,
            }
            let end = self.at;
            self.skip_blanks()?;
            if self.at_end_of_line() || self.peek() == b';' && !self.is_end_of_arm() {
                let mut pipeline = self.nothing(start, end);
                (pipeline.timed, pipeline.negated) = (timed, negated);
                return Ok(pipeline);
            }
            keyword = self.keyword()?;
        }
        let first = self.command(keyword)?;
        let mut span = first.span;
        let mut commands = Few::from(first);
        while self.pipe()? {
            let next = self.command_in_pipeline()?;
            span = span.to(next.span);
            commands.push(next);
        }
        Ok(Pipeline {
            commands,
            timed,
            negated,
            span: span.to(Span::new(start, start)),
        })
    }

    /// Reads `-p` and `--` behind `time`.
    fn time_options(&mut self) -> Result<()> {
        for option in ["-p", "--"] {
            let end = self.at;
            self.skip_blanks()?;
            if self.is_word(option)? {
                self.at += option.len();
            } else {
                self.at = end;
            }
        }
        Ok(())
    }

    /// `!` or `time` alone.
    fn nothing(&self, start: usize, end: usize) -> Pipeline<'a> {
        let span = Span::new(end, end);
        Pipeline {
            commands: Few::from(Command {
                kind: CommandKind::Simple(SimpleCommand::default()),
                redirects: Vec::new(),
                span,
            }),
            timed: false,
            negated: false,
            span: Span::new(start, end),
        }
    }

    /// Reads `|` or `|&`, if one stands here.
    fn pipe(&mut self) -> Result<bool> {
        self.skip_blanks()?;
        if self.peek() != b'|' || self.peek_second() == b'|' {
            return Ok(false);
        }
        self.at += 1;
        if self.peek() == b'&' {
            self.at += 1;
        }
        self.behind_word = false;
        self.skip_lines()?;
        Ok(true)
    }

    /// Reads a command behind `|`, where `!` cannot stand and `time` is a program.
    fn command_in_pipeline(&mut self) -> Result<Command<'a>> {
        match self.keyword()? {
            Some(Keyword::Bang) => Err(self.unexpected()),
            Some(Keyword::Time) => {
                Err(self.unsupported("time in the middle of a pipeline", self.at))
            }
            keyword => self.command(keyword),
        }
    }
}
