//! Conversion of syntax trees that borrow their text into trees that own it.

use super::{
    ArgWord, Arithmetic, ArithmeticFor, ArithmeticToken, ArrayElement, AssignedValue, Assignment,
    Brace, Branch, Case, CaseArm, Command, CommandKind, Condition, Connector, For, HereDocument,
    If, Item, LoopCondition, Operation, Parameter, Part, Redirect, RedirectOperator,
    RedirectTarget, Runs, Script, ShellPipeline, SimpleCommand, SmallVec, Span, Subscript,
    Substitute, Substitution, Text, While, Word,
};

impl Script<'_> {
    /// Converts the tree into one that owns its text, so that it outlives the source.
    pub fn into_owned(self) -> Script<'static> {
        self.own(None)
    }

    /// Converts the tree into one that owns its text and has the span `place` everywhere.
    pub(super) fn into_owned_at(self, place: Span) -> Script<'static> {
        self.own(Some(place))
    }
}

/// A node that can own its text.
trait Own {
    type Owned;

    /// Converts the node into an owned one. All its spans become `place`, if there is one.
    fn own(self, place: Option<Span>) -> Self::Owned;
}

impl Own for Span {
    type Owned = Span;

    fn own(self, place: Option<Span>) -> Span {
        place.unwrap_or(self)
    }
}

impl Own for Text<'_> {
    type Owned = Text<'static>;

    fn own(self, _place: Option<Span>) -> Text<'static> {
        Text::Owned(self.into_owned())
    }
}

impl<T: Own> Own for Box<T> {
    type Owned = Box<T::Owned>;

    fn own(self, place: Option<Span>) -> Self::Owned {
        Box::new((*self).own(place))
    }
}

impl<T: Own> Own for Option<T> {
    type Owned = Option<T::Owned>;

    fn own(self, place: Option<Span>) -> Self::Owned {
        self.map(|inner| inner.own(place))
    }
}

impl<T: Own> Own for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn own(self, place: Option<Span>) -> Self::Owned {
        self.into_iter().map(|inner| inner.own(place)).collect()
    }
}

impl<T: Own> Own for SmallVec<T> {
    type Owned = SmallVec<T::Owned>;

    fn own(self, place: Option<Span>) -> Self::Owned {
        self.into_iter().map(|inner| inner.own(place)).collect()
    }
}

impl<T: Own, const N: usize> Own for [T; N] {
    type Owned = [T::Owned; N];

    fn own(self, place: Option<Span>) -> Self::Owned {
        self.map(|inner| inner.own(place))
    }
}

impl<A: Own, B: Own> Own for (A, B) {
    type Owned = (A::Owned, B::Owned);

    fn own(self, place: Option<Span>) -> Self::Owned {
        (self.0.own(place), self.1.own(place))
    }
}

/// Nodes without text.
macro_rules! plain {
    ($($name:ty),*) => {
        $(impl Own for $name {
            type Owned = $name;

            fn own(self, _place: Option<Span>) -> $name {
                self
            }
        })*
    };
}

/// Nodes with fields, each of which is converted.
macro_rules! fields {
    ($($name:ident { $($field:ident),* })*) => {
        $(impl Own for $name<'_> {
            type Owned = $name<'static>;

            fn own(self, place: Option<Span>) -> $name<'static> {
                $name {
                    $($field: self.$field.own(place),)*
                }
            }
        })*
    };
}

/// Nodes of several kinds.
macro_rules! kinds {
    ($($name:ident {
        $($tuple:ident($($inner:ident),*),)*
        $(; $($kind:ident { $($field:ident),* },)*)?
    })*) => {
        $(impl Own for $name<'_> {
            type Owned = $name<'static>;

            fn own(self, place: Option<Span>) -> $name<'static> {
                match self {
                    $($name::$tuple($($inner),*) => $name::$tuple($($inner.own(place)),*),)*
                    $($($name::$kind { $($field),* } => $name::$kind {
                        $($field: $field.own(place),)*
                    },)*)?
                }
            }
        })*
    };
}

plain!(
    bool,
    char,
    u32,
    Connector,
    LoopCondition,
    RedirectOperator,
    Runs,
    Substitute
);

fields! {
    Script { items, span }
    Item { pipelines, runs, span }
    ShellPipeline { commands, pipes_errors, timed, negated, span }
    Command { kind, redirects, span }
    SimpleCommand { assignments, words, span }
    Assignment { name, subscript, appends, value, span }
    ArrayElement { subscript, value, span }
    If { branches, otherwise, span }
    Branch { condition, body, span }
    While { kind, condition, body, span }
    For { variable, variable_span, words, body, span }
    ArithmeticFor { clauses, body, span }
    Case { subject, arms, span }
    CaseArm { patterns, body, span }
    Word { parts, span }
    Substitution { script, span }
    Parameter { name, subscript, operation, span }
    Arithmetic { tokens, span }
    Redirect { descriptor, operator, target, span }
    HereDocument { delimiter, body, span }
}

impl Own for Operation<'_> {
    type Owned = Operation<'static>;

    fn own(self, place: Option<Span>) -> Operation<'static> {
        match self {
            Self::Value => Operation::Value,
            Self::Length => Operation::Length,
            Self::Keys => Operation::Keys,
            Self::Names => Operation::Names,
            Self::Transform(letter) => Operation::Transform(letter),
            Self::Substitute { when, colon, word } => Operation::Substitute {
                when,
                colon,
                word: word.own(place),
            },
            Self::Trim { pattern } => Operation::Trim {
                pattern: pattern.own(place),
            },
            Self::ChangeCase { pattern } => Operation::ChangeCase {
                pattern: pattern.own(place),
            },
            Self::Replace {
                pattern,
                replacement,
            } => Operation::Replace {
                pattern: pattern.own(place),
                replacement: replacement.own(place),
            },
            Self::Substring { offset, length } => Operation::Substring {
                offset: offset.own(place),
                length: length.own(place),
            },
        }
    }
}

impl Own for Subscript<'_> {
    type Owned = Subscript<'static>;

    fn own(self, place: Option<Span>) -> Subscript<'static> {
        match self {
            Self::All => Subscript::All,
            Self::Index(index) => Subscript::Index(index.own(place)),
        }
    }
}

kinds! {
    CommandKind {
        Simple(inner),
        Subshell(inner),
        Group(inner),
        If(inner),
        While(inner),
        For(inner),
        ArithmeticFor(inner),
        Case(inner),
        Condition(inner),
        Arithmetic(inner),
    }
    ArgWord {
        Word(inner),
        Array(inner),
    }
    AssignedValue {
        Word(inner),
        Array(inner),
    }
    RedirectTarget {
        Word(inner),
        HereDocument(inner),
    }
    Part {
        Literal(inner),
        Quoted(inner),
        DoubleQuoted(inner),
        Glob(inner),
        Tilde(inner),
        Brace(inner),
        Parameter(inner),
        CommandSubstitution(inner),
        ProcessSubstitution(inner),
        Arithmetic(inner),
    }
    Brace {
        Alternatives(inner),
        ;
        Sequence { first, last, step },
    }
    ArithmeticToken {
        Number(inner),
        Operator(inner),
        Part(inner),
        ;
        Name { name, span },
    }
    Condition {
        And(left, right),
        Or(left, right),
        Not(inner, span),
        Group(inner, span),
        Word(inner),
        ;
        Unary { operator, operand, span },
        Binary { operator, left, right, span },
    }
}
