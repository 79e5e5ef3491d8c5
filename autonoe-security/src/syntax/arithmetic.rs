//! Arithmetic, as the shell's lexer sees it.

use super::{Part, Span, Text};

/// An arithmetic expression as a list of tokens.
///
/// Whether the tokens make sense is only known when Bash evaluates them, after
/// expansion; `bash -n` does not look either.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Arithmetic<'a> {
    /// The tokens, without blanks.
    pub tokens: Vec<ArithmeticToken<'a>>,
    /// The expression, without what encloses it.
    pub span: Span,
}

/// A token of arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArithmeticToken<'a> {
    /// A number, in any base: it begins with a digit.
    Number(Text<'a>),
    /// The name of a variable, written without `$`. Bash evaluates its value in turn.
    Name {
        /// The name.
        name: Text<'a>,
        /// Where it stands.
        span: Span,
    },
    /// An operator: `+`, `<<=`, `?`, `[` ..
    Operator(Text<'a>),
    /// Quoted text or an expansion.
    Part(Part<'a>),
}
