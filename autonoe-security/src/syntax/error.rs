//! Syntax errors and unsupported constructs.

use std::fmt;

use super::Span;

/// The error for a text that is not a script that this parser understands, and its position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxError {
    /// The kind of the error.
    pub kind: SyntaxErrorKind,
    /// The bytes that caused the error.
    pub span: Span,
}

/// The kind of a syntax error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The text is longer than [`MAX_LENGTH`](super::MAX_LENGTH).
    TooLong,
    /// The text has more commands, words and expansions than the parser accepts.
    TooMany,
    /// Scripts or expansions are nested deeper than the parser accepts.
    TooDeep,
    /// A byte or character that no command needs and that hides the meaning of the text.
    ForbiddenCharacter,
    /// A construct was opened and never closed; the string names it, for example `quote`.
    Unterminated(&'static str),
    /// A token that the grammar does not allow here.
    Unexpected,
    /// A missing element; the string names it, for example `a command`.
    Missing(&'static str),
    /// A construct of Bash that this parser rejects; the string names it, for example
    /// `a function definition`.
    Unsupported(&'static str),
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            SyntaxErrorKind::TooLong => f.write_str("the text is too long"),
            SyntaxErrorKind::TooMany => f.write_str("it has too many commands and words"),
            SyntaxErrorKind::TooDeep => f.write_str("it is nested too deeply"),
            SyntaxErrorKind::ForbiddenCharacter => f.write_str("it contains a control character"),
            SyntaxErrorKind::Unterminated(construct) => {
                write!(f, "the {construct} is never closed")
            }
            SyntaxErrorKind::Unexpected => f.write_str("this is not allowed here"),
            SyntaxErrorKind::Missing(construct) => write!(f, "{construct} is missing"),
            SyntaxErrorKind::Unsupported(construct) => write!(f, "{construct} is not supported"),
        }?;
        write!(f, " at byte {}", self.span.start())
    }
}

impl std::error::Error for SyntaxError {}
