//! Redirections and here-documents.

use super::{Part, Span, Text, Word};

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect<'a> {
    /// The number before the operator.
    pub descriptor: Option<u32>,
    /// The operator.
    pub operator: RedirectOperator,
    /// The target.
    pub target: RedirectTarget<'a>,
    /// The whole redirection, without the body of a here-document.
    pub span: Span,
}

impl Redirect<'_> {
    /// Returns whether it is `2>/dev/null`.
    pub fn discards_errors(&self) -> bool {
        let is_nowhere = matches!(&self.target, RedirectTarget::Word(word)
            if word.static_text().as_deref() == Some("/dev/null"));
        is_nowhere && self.descriptor == Some(2) && self.operator == RedirectOperator::Write
    }
}

/// The operator of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RedirectOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `&>`
    WriteAll,
    /// `&>>`
    AppendAll,
    /// `<<` and `<<-`
    HereDocument,
    /// `<<<`
    HereString,
}

/// The target of a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget<'a> {
    /// A file, a descriptor, or the text of a here-string.
    Word(Word<'a>),
    /// A here-document.
    HereDocument(Box<HereDocument<'a>>),
}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument<'a> {
    /// The delimiter, without quotes.
    pub delimiter: Text<'a>,
    /// The body: one [`Quoted`](Part::Quoted) text if the delimiter is quoted, otherwise quoted
    /// text and expansions. Tabs stripped by `<<-` are not included.
    pub body: Vec<Part<'a>>,
    /// The span of the body, without the line of the delimiter.
    pub span: Span,
}
