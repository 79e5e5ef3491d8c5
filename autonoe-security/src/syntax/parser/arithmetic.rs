//! Parses arithmetic into a list of tokens.
//!
//! Bash finds the end of arithmetic by counting parentheses, while it skips quotes and `$(`. The
//! parser accepts only text for which it finds the same end.

use super::bytes::{NAME, NAME_START, is};
use super::dollar::Quoting;
use super::{Parser, Result, budget};
use crate::syntax::{Arithmetic, ArithmeticToken, Operation, Part};

/// The end of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// `))`
    Parentheses,
    /// `;` or `))`
    Clause,
    /// `]`
    Bracket(Quoting),
    /// `}`, or the `:` of `${x:offset:length}`
    Brace(Quoting),
}

/// Operators of more than one character, the longest first.
const LONG_OPERATORS: [&str; 21] = [
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=",
];

impl<'a> Parser<'a> {
    /// Reads an expression and the `))` after it. The enclosing construct started at `start`.
    pub(super) fn arithmetic_in_parentheses(&mut self, start: usize) -> Result<Arithmetic<'a>> {
        let arithmetic = self.arithmetic(Until::Parentheses)?;
        self.close_parentheses(start)?;
        Ok(arithmetic)
    }

    /// Reads the three expressions of `for ((..; ..; ..))`, and the `))`.
    pub(super) fn arithmetic_clauses(&mut self, start: usize) -> Result<[Arithmetic<'a>; 3]> {
        let mut clauses: [Arithmetic<'a>; 3] = Default::default();
        for (number, clause) in clauses.iter_mut().enumerate() {
            if number > 0 {
                if self.peek() != b';' {
                    return Err(self.not_closed("loop", start));
                }
                self.at += 1;
            }
            *clause = self.arithmetic(Until::Clause)?;
        }
        self.close_parentheses(start)?;
        Ok(clauses)
    }

    /// Reads an expression up to `]`.
    pub(super) fn arithmetic_in_brackets(&mut self, quoting: Quoting) -> Result<Arithmetic<'a>> {
        self.arithmetic(Until::Bracket(quoting))
    }

    /// Reads the offset and the length of `${x:offset:length}`.
    pub(super) fn substring(&mut self, quoting: Quoting) -> Result<Operation<'a>> {
        let offset = self.arithmetic(Until::Brace(quoting))?;
        let length = match self.peek() {
            b':' => {
                self.at += 1;
                Some(self.arithmetic(Until::Brace(quoting))?)
            }
            _ => None,
        };
        Ok(Operation::Substring { offset, length })
    }

    fn close_parentheses(&mut self, start: usize) -> Result<()> {
        if self.peek() != b')' {
            return Err(self.not_closed("arithmetic", start));
        }
        if self.at + 1 >= self.text.len() {
            return Err(self.unterminated("arithmetic", start));
        }
        if self.peek_second() != b')' {
            // Bash would parse it again, as commands.
            return Err(self.unsupported("a subshell directly behind a parenthesis", start));
        }
        self.at += 2;
        Ok(())
    }

    /// Reads tokens up to the end of the expression, which is not consumed.
    fn arithmetic(&mut self, until: Until) -> Result<Arithmetic<'a>> {
        let start = self.at;
        let mut tokens = Vec::new();
        let (mut parentheses, mut brackets) = (0_usize, 0_usize);
        loop {
            let at = self.at;
            match self.peek() {
                b' ' | b'\t' => {
                    self.at += 1;
                    continue;
                }
                b'\n' if matches!(until, Until::Parentheses | Until::Clause) => {
                    self.at += 1;
                    continue;
                }
                b'(' => parentheses += 1,
                b')' if parentheses > 0 => parentheses -= 1,
                b')' if matches!(until, Until::Parentheses | Until::Clause) => break,
                b')' => return Err(self.unexpected()),
                b';' if until == Until::Clause && parentheses == 0 => break,
                b'[' => brackets += 1,
                b']' if brackets > 0 => brackets -= 1,
                b']' if matches!(until, Until::Bracket(_)) => break,
                b'}' | b':' if matches!(until, Until::Brace(_)) && parentheses == 0 => break,
                b'?' if matches!(until, Until::Brace(_)) => return Err(self.unexpected()),
                _ => {}
            }
            let token = self.arithmetic_token(until)?;
            let operator = self.slice(at, self.at);
            if self.peek() == b'(' && operator.ends_with(['<', '>']) {
                return Err(self.unsupported("a parenthesis directly behind < or >", at));
            }
            self.spend(budget::WORD)?;
            tokens.push(token);
        }
        Ok(Arithmetic {
            tokens,
            span: self.span_from(start),
        })
    }

    fn arithmetic_token(&mut self, until: Until) -> Result<ArithmeticToken<'a>> {
        let start = self.at;
        let next = self.peek();
        if is(next, NAME_START) {
            self.at = self.run(start, NAME);
            return Ok(ArithmeticToken::Name {
                name: self.slice(start, self.at).into(),
                span: self.span_from(start),
            });
        }
        if next.is_ascii_digit() {
            while is(self.peek(), NAME) || matches!(self.peek(), b'#' | b'@') {
                self.at += 1;
            }
            return Ok(ArithmeticToken::Number(self.slice(start, self.at).into()));
        }
        if matches!(next, b'$' | b'`' | b'"' | b'\'') {
            return self.arithmetic_part(until).map(ArithmeticToken::Part);
        }
        let rest = self.slice(start, self.text.len());
        let long = LONG_OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator));
        let length = match long {
            Some(operator) => operator.len(),
            None if b"+-*/%<>=!~&|^?:,()[]".contains(&next) => 1,
            // The key of an associative array is a word.
            None if matches!(until, Until::Bracket(_)) && b".@#".contains(&next) => 1,
            None => return Err(self.not_closed("arithmetic", start)),
        };
        self.at += length;
        Ok(ArithmeticToken::Operator(self.slice(start, self.at).into()))
    }

    /// Reads quoted text or an expansion.
    fn arithmetic_part(&mut self, until: Until) -> Result<Part<'a>> {
        let start = self.at;
        let quoting = match until {
            Until::Parentheses | Until::Clause => Quoting::Double,
            Until::Bracket(quoting) | Until::Brace(quoting) => quoting,
        };
        match self.peek() {
            b'"' if quoting == Quoting::HereDocument || matches!(until, Until::Brace(_)) => {
                Err(self.unexpected())
            }
            b'"' => {
                let part = self.double_quoted()?;
                self.check_quoted(part, start)
            }
            b'\'' if until == Until::Bracket(Quoting::None) => {
                let part = self.single_quoted()?;
                self.check_quoted(part, start)
            }
            b'\'' => Err(self.unexpected()),
            b'`' => {
                let part = self.back_quoted(Quoting::Double)?;
                self.check_flat(std::slice::from_ref(&part))?;
                Ok(part)
            }
            _ => {
                let part = self.dollar(Quoting::Double)?;
                let part = part.ok_or_else(|| self.unexpected())?;
                self.check_part(start, until)?;
                self.check_flat(std::slice::from_ref(&part))?;
                Ok(part)
            }
        }
    }

    /// Rejects quoted text that Bash would expand: quotes do not protect here.
    fn check_quoted(&self, part: Part<'a>, start: usize) -> Result<Part<'a>> {
        let is_plain = |part: &Part<'_>| match part {
            Part::Quoted(text) => !text.contains(['$', '`', '\\']),
            _ => true,
        };
        let is_safe = match &part {
            Part::DoubleQuoted(parts) => parts.iter().all(is_plain),
            part => is_plain(part),
        };
        if is_safe {
            Ok(part)
        } else {
            Err(self.unsupported("quoted text of this kind in arithmetic", start))
        }
    }

    /// Rejects `${..}` that contains something that Bash would count as an end.
    fn check_part(&self, start: usize, until: Until) -> Result<()> {
        if self.byte(start + 1) != b'{' {
            return Ok(());
        }
        let raw = self.slice(start, self.at);
        let misleading: &[char] = match until {
            Until::Parentheses | Until::Clause => &['(', ')', '\'', '"', '`', '\\', ';'],
            Until::Bracket(_) | Until::Brace(_) => &['\'', '"', '`', '\\'],
        };
        // When Bash counts, a `#` after a blank starts a comment.
        let comment = |pair: &[u8]| matches!(pair, [b' ' | b'\t' | b'\n', b'#']);
        if raw.contains(misleading) || raw.as_bytes().windows(2).any(comment) {
            return Err(self.unsupported("an expansion of this kind in arithmetic", start));
        }
        Ok(())
    }
}
