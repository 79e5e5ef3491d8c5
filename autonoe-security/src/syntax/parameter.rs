//! Parameter expansions.

use super::{Arithmetic, Span, Text, Word};

/// `$x`, `${x}` and every other form of `${..}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// The parameter: a name, a number, or one of `@ * # ? - $ ! _`.
    pub name: Text<'a>,
    /// The subscript in brackets after the name.
    pub subscript: Option<Subscript<'a>>,
    /// The operation on the value.
    pub operation: Operation<'a>,
    /// The whole expansion.
    pub span: Span,
}

/// The subscript in brackets after the name of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript<'a> {
    /// `@` or `*`
    All,
    /// Anything else. An indexed array evaluates it; an associative array uses it as a word, with
    /// the same expansions.
    Index(Box<Arithmetic<'a>>),
}

/// The operation of an expansion on the value of its parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation<'a> {
    /// No operation: `$x`, `${x}`.
    Value,
    /// `${#x}`
    Length,
    /// `${!a[@]}`: the subscripts that are set.
    Keys,
    /// `${!prefix*}` and `${!prefix@}`: the variables whose names start with the prefix.
    Names,
    /// `${x:-word}` and similar expansions.
    Substitute {
        /// The condition.
        when: Substitute,
        /// Whether it has a colon, so that an empty value counts as unset.
        colon: bool,
        /// The word after the operator.
        word: Word<'a>,
    },
    /// `${x#pattern}`, `${x##pattern}`, `${x%pattern}`, `${x%%pattern}`
    Trim {
        /// The pattern.
        pattern: Word<'a>,
    },
    /// `${x/pattern/replacement}` and similar expansions.
    Replace {
        /// The pattern.
        pattern: Word<'a>,
        /// The replacement.
        replacement: Option<Word<'a>>,
    },
    /// `${x:offset}` and `${x:offset:length}`
    Substring {
        /// The offset.
        offset: Arithmetic<'a>,
        /// The length.
        length: Option<Arithmetic<'a>>,
    },
    /// `${x^pattern}`, `${x^^pattern}`, `${x,pattern}`, `${x,,pattern}`
    ChangeCase {
        /// The letters to change; all of them if it is empty.
        pattern: Word<'a>,
    },
    /// `${x@Q}` and similar expansions, apart from `@P`, which the parser rejects.
    Transform(char),
}

/// The condition under which the word of `${x..word}` replaces the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Substitute {
    /// `-`: when there is no value.
    Default,
    /// `=`: when there is no value, and the variable is set to it.
    Assign,
    /// `?`: when there is no value, as an error.
    Error,
    /// `+`: when there is a value.
    Alternative,
}
