//! Parses here-document delimiters and attaches the bodies to the tree.
//!
//! The body of a here-document starts after the line that announces it, when its command has
//! already been parsed. A number reserves its place in the tree, which is filled when the script is
//! complete.

use super::bytes::{BREAK, is};
use super::{Parser, Result};
use crate::syntax::{
    CommandKind, HereDocument, RedirectTarget, Script, Span, SyntaxErrorKind, Text,
};

/// Bash accepts at most this many in a line.
const MAX_PENDING: usize = 16;

/// The here-documents of one script.
#[derive(Default)]
pub(super) struct Documents<'a> {
    /// Announced, not yet read.
    pending: Vec<PendingHereDocument<'a>>,
    /// Read, in the order of their announcement.
    read: Vec<Option<HereDocument<'a>>>,
}

/// The properties of a here-document from its operator.
pub(super) struct PendingHereDocument<'a> {
    pub(super) delimiter: Text<'a>,
    /// Whether the body is text, without expansions.
    pub(super) quoted: bool,
    /// Whether leading tabs are removed from lines.
    pub(super) strips_tabs: bool,
    pub(super) span: Span,
}

impl<'a> Parser<'a> {
    /// Reads the delimiter after `<<` and reserves a place for the document.
    pub(super) fn here_document(&mut self, strips_tabs: bool) -> Result<RedirectTarget<'a>> {
        let start = self.at;
        let (delimiter, quoted) = self.delimiter()?;
        self.refuse_number_before_redirect(start)?;
        let number = self.documents.read.len() + self.documents.pending.len();
        if self.documents.pending.len() == MAX_PENDING {
            return Err(self.unsupported("a line with so many here-documents", start));
        }
        self.documents.pending.push(PendingHereDocument {
            delimiter,
            quoted,
            strips_tabs,
            span: self.span_from(start),
        });
        Ok(RedirectTarget::HereDocument(Box::new(HereDocument {
            delimiter: Text::default(),
            body: Vec::new(),
            span: Span::new(number, number),
        })))
    }

    /// Reads a delimiter, and returns whether any of it is quoted.
    fn delimiter(&mut self) -> Result<(Text<'a>, bool)> {
        let start = self.at;
        let mut delimiter = Text::default();
        let mut quoted = false;
        loop {
            let run = self.at;
            let next = self.peek();
            match next {
                b'\'' | b'"' => {
                    let text = self.quoted_delimiter(next)?;
                    append(&mut delimiter, text);
                    quoted = true;
                }
                b'\\' if self.is_continuation(run) => {
                    self.word_ends_at_continuation(run)?;
                    break;
                }
                b'\\' if self.at + 1 < self.text.len() => {
                    self.at += 1;
                    self.at += self.char_length(self.at);
                    append(&mut delimiter, self.slice(run + 1, self.at));
                    quoted = true;
                }
                _ if is_plain(next) => {
                    while is_plain(self.peek()) {
                        self.at += 1;
                    }
                    append(&mut delimiter, self.slice(run, self.at));
                }
                _ if is(next, BREAK) && !self.is_process_substitution(run) => break,
                b'\r' => return Err(self.unexpected()),
                _ => return Err(self.unsupported("a delimiter of this kind", start)),
            }
        }
        if delimiter.is_empty() {
            return Err(self.missing("the delimiter of a here-document"));
        }
        Ok((delimiter, quoted))
    }

    /// Reads a quoted part of a delimiter, which must be plain.
    fn quoted_delimiter(&mut self, quote: u8) -> Result<&'a str> {
        let start = self.at;
        let rest = self.slice(start + 1, self.text.len());
        let Some(length) = rest.find(char::from(quote)) else {
            return Err(self.unterminated("quote", start));
        };
        let text = self.slice(start + 1, start + 1 + length);
        self.at = start + length + 2;
        if text.contains(['\n', '\r', '\t', '\\', '$', '`']) {
            return Err(self.unsupported("a delimiter of this kind", start));
        }
        Ok(text)
    }

    /// Returns whether the script has had a here-document.
    pub(super) fn has_documents(&self) -> bool {
        !self.documents.read.is_empty()
    }

    /// Returns whether a here-document starts at the end of this line.
    pub(super) fn has_pending_documents(&self) -> bool {
        !self.documents.pending.is_empty()
    }

    /// Reads the documents that start here, at the start of a line.
    #[inline]
    pub(super) fn read_documents(&mut self) -> Result<()> {
        if self.documents.pending.is_empty() {
            return Ok(());
        }
        for announced in std::mem::take(&mut self.documents.pending) {
            let document = self.document(announced)?;
            self.documents.read.push(Some(document));
        }
        Ok(())
    }

    /// Inserts the documents of a script into their places.
    pub(super) fn finish_documents(&mut self, script: &mut Script<'a>) -> Result<()> {
        if let Some(announced) = self.documents.pending.first() {
            let kind = SyntaxErrorKind::Unterminated("here-document");
            let span = announced.span;
            return Err(self.error(kind, span.start(), span.end()));
        }
        if !self.documents.read.is_empty() {
            let mut read = std::mem::take(&mut self.documents.read);
            fill(script, &mut read);
        }
        Ok(())
    }
}

/// Fills the places of documents in `script`, but not in the scripts of its words, which are
/// complete.
fn fill<'a>(script: &mut Script<'a>, read: &mut [Option<HereDocument<'a>>]) {
    for item in &mut script.items {
        for (_, pipeline) in item.pipelines.iter_mut() {
            for command in pipeline.commands.iter_mut() {
                fill_inner(&mut command.kind, read);
                for redirect in &mut command.redirects {
                    if let RedirectTarget::HereDocument(place) = &mut redirect.target {
                        let number = place.span.start();
                        if let Some(document) = read.get_mut(number).and_then(Option::take) {
                            **place = document;
                        }
                    }
                }
            }
        }
    }
}

fn fill_inner<'a>(kind: &mut CommandKind<'a>, read: &mut [Option<HereDocument<'a>>]) {
    match kind {
        CommandKind::Subshell(script) | CommandKind::Group(script) => fill(script, read),
        CommandKind::If(command) => {
            for branch in &mut command.branches {
                fill(&mut branch.condition, read);
                fill(&mut branch.body, read);
            }
            if let Some(otherwise) = &mut command.otherwise {
                fill(otherwise, read);
            }
        }
        CommandKind::While(command) => {
            fill(&mut command.condition, read);
            fill(&mut command.body, read);
        }
        CommandKind::For(command) => fill(&mut command.body, read),
        CommandKind::ArithmeticFor(command) => fill(&mut command.body, read),
        CommandKind::Case(command) => {
            for arm in &mut command.arms {
                fill(&mut arm.body, read);
            }
        }
        CommandKind::Simple(_) | CommandKind::Condition(_) | CommandKind::Arithmetic(_) => {}
    }
}

/// Returns whether a byte of a delimiter has no special meaning.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-.,:+@%/=!^".contains(&byte)
}

fn append<'a>(text: &mut Text<'a>, more: &'a str) {
    if text.is_empty() {
        *text = Text::Borrowed(more);
    } else {
        text.to_mut().push_str(more);
    }
}
