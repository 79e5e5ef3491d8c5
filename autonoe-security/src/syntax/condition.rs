//! Conditions in `[[ .. ]]`.

use super::{Span, Text, Word};

/// An expression of `[[ .. ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition<'a> {
    /// `a && b`
    And(Box<Condition<'a>>, Box<Condition<'a>>),
    /// `a || b`
    Or(Box<Condition<'a>>, Box<Condition<'a>>),
    /// `! a`, with the span from the `!` on.
    Not(Box<Condition<'a>>, Span),
    /// `( a )`, with the span of the parentheses.
    Group(Box<Condition<'a>>, Span),
    /// `-f file`
    Unary {
        /// The operator, with its dash.
        operator: Text<'a>,
        /// The operand.
        operand: Word<'a>,
        /// From the operator to the end of the operand.
        span: Span,
    },
    /// `a == b`, `a -lt b`, `a =~ b` ..
    Binary {
        /// The operator as written.
        operator: Text<'a>,
        /// The left side.
        left: Word<'a>,
        /// The right side: a pattern for `==`, a regular expression for `=~`.
        right: Word<'a>,
        /// From the left side to the end of the right side.
        span: Span,
    },
    /// A single word: true if it is not empty.
    Word(Word<'a>),
}

impl Condition<'_> {
    /// Returns the span of the expression, without `[[` and `]]`.
    pub fn span(&self) -> Span {
        match self {
            Self::And(left, right) | Self::Or(left, right) => left.span().to(right.span()),
            Self::Not(_, span)
            | Self::Group(_, span)
            | Self::Unary { span, .. }
            | Self::Binary { span, .. } => *span,
            Self::Word(word) => word.span,
        }
    }
}
