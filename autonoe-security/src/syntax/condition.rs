//! What stands in `[[ .. ]]`.

use super::{Text, Word};

/// An expression of `[[ .. ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition<'a> {
    /// `a && b`
    And(Box<Condition<'a>>, Box<Condition<'a>>),
    /// `a || b`
    Or(Box<Condition<'a>>, Box<Condition<'a>>),
    /// `! a`
    Not(Box<Condition<'a>>),
    /// `( a )`
    Group(Box<Condition<'a>>),
    /// `-f file`
    Unary {
        /// The operator, with its dash.
        operator: Text<'a>,
        /// What it is about.
        operand: Word<'a>,
    },
    /// `a == b`, `a -lt b`, `a =~ b` ..
    Binary {
        /// The operator as written.
        operator: Text<'a>,
        /// The left side.
        left: Word<'a>,
        /// The right side: a pattern for `==`, a regular expression for `=~`.
        right: Word<'a>,
    },
    /// A word alone: true when it is not empty.
    Word(Word<'a>),
}
