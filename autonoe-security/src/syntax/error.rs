//! Why a text was not understood.

use std::fmt;

use super::Span;

/// Why a text is not a script that this parser understands, and where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxError {
    /// What is wrong.
    pub kind: SyntaxErrorKind,
    /// Where: the bytes that the parser objects to.
    pub span: Span,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// It is longer than [`MAX_LENGTH`](super::MAX_LENGTH).
    TooLong,
    /// It has more commands, words and expansions than the parser reads.
    TooMany,
    /// Scripts or expansions stand in each other deeper than the parser follows.
    TooDeep,
    /// A byte or character that no command needs and that hides what it does.
    ForbiddenCharacter,
    /// Something was opened and never closed; the text names it, for example `quote`.
    Unterminated(&'static str),
    /// Something stands where the grammar has no place for it.
    Unexpected,
    /// Something is missing; the text names it, for example `a command`.
    Missing(&'static str),
    /// Bash knows it, this parser refuses it; the text names it, for example `a function definition`.
    Unsupported(&'static str),
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            SyntaxErrorKind::TooLong => f.write_str("the text is too long"),
            SyntaxErrorKind::TooMany => f.write_str("it has too many commands and words"),
            SyntaxErrorKind::TooDeep => f.write_str("it is nested too deeply"),
            SyntaxErrorKind::ForbiddenCharacter => f.write_str("a control character stands in it"),
            SyntaxErrorKind::Unterminated(what) => write!(f, "the {what} is never closed"),
            SyntaxErrorKind::Unexpected => f.write_str("this cannot stand here"),
            SyntaxErrorKind::Missing(what) => write!(f, "{what} is missing"),
            SyntaxErrorKind::Unsupported(what) => write!(f, "{what} is not supported"),
        }?;
        write!(f, " at byte {}", self.span.start())
    }
}

impl std::error::Error for SyntaxError {}
