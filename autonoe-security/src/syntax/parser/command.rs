//! Parses commands: their first word, and compound commands.

use super::keyword::Keyword;
use super::parentheses::DoubleParenthesis;
use super::{Parser, Result, budget};
use crate::syntax::{
    Branch, Command, CommandKind, If, LoopCondition, Span, SyntaxError, SyntaxErrorKind, While,
};

impl<'a> Parser<'a> {
    /// Reads one command with its redirections.
    #[inline]
    pub(super) fn command(&mut self, keyword: Option<Keyword>) -> Result<Command<'a>> {
        self.spend(budget::COMMAND)?;
        if keyword.is_none() && self.peek() != b'(' {
            return self.simple_command();
        }
        self.compound_command(keyword)
    }

    #[inline(never)]
    fn compound_command(&mut self, keyword: Option<Keyword>) -> Result<Command<'a>> {
        let start = self.at;
        self.deepen()?;
        let kind = self.compound(keyword, start)?;
        self.depth -= 1;
        self.behind_word = false;
        let mut end = self.at;
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks()?;
            let Some(redirect) = self.redirect()? else {
                break;
            };
            end = redirect.span.end();
            redirects.push(redirect);
        }
        Ok(Command {
            kind,
            redirects,
            span: Span::new(start, end),
        })
    }

    fn compound(&mut self, keyword: Option<Keyword>, start: usize) -> Result<CommandKind<'a>> {
        let Some(keyword) = keyword else {
            return self.parenthesised();
        };
        let refused = match keyword {
            Keyword::Select => "select",
            Keyword::Function => "a function definition",
            Keyword::Coproc => "a coprocess",
            _ => "",
        };
        if !refused.is_empty() {
            return Err(self.unsupported(refused, start));
        }
        self.at += keyword.text().len();
        match keyword {
            Keyword::OpenBrace => {
                let script = self.commands()?;
                self.expect(Keyword::CloseBrace, "brace", start)?;
                Ok(CommandKind::Group(script))
            }
            Keyword::OpenCondition => Ok(CommandKind::Condition(Box::new(self.condition(start)?))),
            Keyword::If => Ok(CommandKind::If(Box::new(self.if_command(start)?))),
            Keyword::While => self.while_command(LoopCondition::While, start),
            Keyword::Until => self.while_command(LoopCondition::Until, start),
            Keyword::For => self.for_command(start),
            Keyword::Case => Ok(CommandKind::Case(Box::new(self.case_command(start)?))),
            _ => {
                self.at = start;
                Err(self.unexpected())
            }
        }
    }

    /// Reads `( .. )` or `(( .. ))`.
    fn parenthesised(&mut self) -> Result<CommandKind<'a>> {
        let start = self.at;
        if self.peek_second() == b'(' && self.double_parenthesis()? == DoubleParenthesis::Arithmetic
        {
            self.at += 2;
            return Ok(CommandKind::Arithmetic(
                self.arithmetic_in_parentheses(start)?,
            ));
        }
        self.at += 1;
        let script = self.commands()?;
        if self.peek() != b')' {
            return Err(self.not_closed("subshell", start));
        }
        self.at += 1;
        Ok(CommandKind::Subshell(script))
    }

    fn if_command(&mut self, start: usize) -> Result<If<'a>> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.commands()?;
            self.expect(Keyword::Then, "if", start)?;
            let body = self.commands()?;
            let span = condition.span.to(body.span);
            branches.push(Branch {
                condition,
                body,
                span,
            });
            if self.consume_keyword(Keyword::Elif)? {
                continue;
            }
            if self.consume_keyword(Keyword::Else)? {
                otherwise = Some(self.commands()?);
            }
            self.expect(Keyword::Fi, "if", start)?;
            return Ok(If {
                branches,
                otherwise,
                span: self.span_from(start),
            });
        }
    }

    fn while_command(&mut self, continues: LoopCondition, start: usize) -> Result<CommandKind<'a>> {
        let condition = self.commands()?;
        let body = self.do_done("loop", start)?;
        Ok(CommandKind::While(Box::new(While {
            kind: continues,
            condition,
            body,
            span: self.span_from(start),
        })))
    }

    /// Returns an error: either the text ended before the construct that started at `start`, or the
    /// next token is wrong.
    pub(super) fn not_closed(&self, construct: &'static str, start: usize) -> SyntaxError {
        if self.at >= self.text.len() {
            self.unterminated(construct, start)
        } else {
            self.unexpected()
        }
    }

    /// Returns an error: a word is missing here, or something wrong is in its place.
    pub(super) fn missing(&self, construct: &'static str) -> SyntaxError {
        match self.peek() {
            b'\r' => self.unexpected(),
            _ => self.error_here(SyntaxErrorKind::Missing(construct)),
        }
    }
}
