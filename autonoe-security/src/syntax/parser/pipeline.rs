//! Parses pipelines.

use super::keyword::Keyword;
use super::{Parser, Result};
use crate::syntax::{Command, CommandKind, ShellPipeline, SimpleCommand, SmallVec, Span};

impl<'a> Parser<'a> {
    /// Reads `!` and `time`, then commands joined by `|` and `|&`.
    pub(super) fn pipeline(&mut self, first: Option<Keyword>) -> Result<ShellPipeline<'a>> {
        let start = self.at;
        let mut keyword = first;
        let (mut timed, mut negated, mut pipes_errors) = (false, false, false);
        let mut commands = SmallVec::default();
        let mut end;
        while let Some(Keyword::Bang | Keyword::Time) = keyword {
            end = self.prefix(keyword, &mut timed, &mut negated)?;
            self.skip_blanks()?;
            if self.at_end_of_line() || self.peek() == b';' && !self.is_end_of_arm() {
                commands.push(empty_command(end));
                return Ok(ShellPipeline {
                    commands,
                    pipes_errors,
                    timed,
                    negated,
                    span: Span::new(start, end),
                });
            }
            keyword = self.keyword()?;
        }
        loop {
            let command = self.command(keyword)?;
            end = command.span.end();
            commands.push(command);
            let Some(passes_errors) = self.pipe()? else {
                break;
            };
            pipes_errors |= passes_errors;
            keyword = self.keyword_after_pipe()?;
        }
        Ok(ShellPipeline {
            commands,
            pipes_errors,
            timed,
            negated,
            span: Span::new(start, end),
        })
    }

    /// Reads `!` or `time` with its options, and returns its end.
    fn prefix(
        &mut self,
        keyword: Option<Keyword>,
        timed: &mut bool,
        negated: &mut bool,
    ) -> Result<usize> {
        if keyword == Some(Keyword::Time) {
            self.at += Keyword::Time.text().len();
            *timed = true;
            self.time_options()?;
        } else if self.peek_second() == b'(' {
            return Err(self.unsupported("an extended glob", self.at));
        } else {
            self.at += 1;
            *negated = !*negated;
        }
        Ok(self.at)
    }

    /// Reads `-p` and `--` after `time`.
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

    /// Reads `|` or `|&`, if present, and returns whether it is `|&`.
    fn pipe(&mut self) -> Result<Option<bool>> {
        self.skip_blanks()?;
        if self.peek() != b'|' || self.peek_second() == b'|' {
            return Ok(None);
        }
        self.at += 1;
        let passes_errors = self.peek() == b'&';
        if passes_errors {
            self.at += 1;
        }
        self.behind_word = false;
        self.skip_lines()?;
        Ok(Some(passes_errors))
    }

    /// Returns the reserved word after `|`, where `!` is not allowed and `time` is a program.
    fn keyword_after_pipe(&self) -> Result<Option<Keyword>> {
        match self.keyword()? {
            Some(Keyword::Bang) => Err(self.unexpected()),
            Some(Keyword::Time) => {
                Err(self.unsupported("time in the middle of a pipeline", self.at))
            }
            keyword => Ok(keyword),
        }
    }
}

/// Creates the empty command of a single `!` or `time`.
fn empty_command<'a>(at: usize) -> Command<'a> {
    let span = Span::new(at, at);
    Command {
        kind: CommandKind::Simple(SimpleCommand {
            span,
            ..SimpleCommand::default()
        }),
        redirects: Vec::new(),
        span,
    }
}
