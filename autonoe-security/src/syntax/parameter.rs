//! Parameter expansions.

use super::{Arithmetic, Span, Text, Word};

/// `$x`, `${x}` and everything that braces can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// What is expanded: a name, a number, or one of `@ * # ? - $ ! _`.
    pub name: Text<'a>,
    /// What stands in the brackets behind the name.
    pub subscript: Option<Subscript<'a>>,
    /// What is done with the value.
    pub operation: Operation<'a>,
    /// The whole expansion.
    pub span: Span,
}

/// What stands in brackets behind the name of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript<'a> {
    /// `@` or `*`
    All,
    /// Anything else. An indexed array evaluates it; an associative one takes it as a word,
    /// with the same expansions in it.
    Index(Box<Arithmetic<'a>>),
}

/// What an expansion does with the value of its parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation<'a> {
    /// Nothing: `$x`, `${x}`.
    Value,
    /// `${#x}`
    Length,
    /// `${!a[@]}`: the subscripts that are set.
    Keys,
    /// `${!prefix*}` and `${!prefix@}`: the variables whose names begin so.
    Names,
    /// `${x:-word}` and its kin.
    Substitute {
        /// Which of them.
        when: Substitute,
        /// Whether it has a colon, so that an empty value counts as unset.
        colon: bool,
        /// The word behind the operator.
        word: Word<'a>,
    },
    /// `${x#pattern}`, `${x##pattern}`, `${x%pattern}`, `${x%%pattern}`
    Trim {
        /// The pattern.
        pattern: Word<'a>,
    },
    /// `${x/pattern/replacement}` and its kin.
    Replace {
        /// The pattern.
        pattern: Word<'a>,
        /// What is put in its place.
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
        /// Which letters; all of them if it is empty.
        pattern: Word<'a>,
    },
    /// `${x@Q}` and its kin, apart from `@P`, which the parser refuses.
    Transform(char),
}

/// When the word of `${x..word}` takes the place of the value.
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
