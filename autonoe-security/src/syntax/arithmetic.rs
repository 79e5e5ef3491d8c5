//! Arithmetic expressions, as a list of tokens.

use super::{Part, Span, Text};

/// An arithmetic expression as a list of tokens.
///
/// Whether the tokens form a valid expression is only known when Bash evaluates them, after
/// expansion; `bash -n` does not check it either.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Arithmetic<'a> {
    /// The tokens, without blanks.
    pub tokens: Vec<ArithmeticToken<'a>>,
    /// The expression, without its delimiters.
    pub span: Span,
}

/// A token of arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArithmeticToken<'a> {
    /// A number, in any base: it starts with a digit.
    Number(Text<'a>),
    /// The name of a variable, written without `$`. Bash evaluates its value in turn.
    Name {
        /// The name.
        name: Text<'a>,
        /// The position of the name.
        span: Span,
    },
    /// An operator: `+`, `<<=`, `?`, `[` ..
    Operator(Text<'a>),
    /// Quoted text or an expansion.
    Part(Part<'a>),
}
