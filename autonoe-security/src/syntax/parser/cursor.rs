//! Moving over the text.

use super::bytes::is;
use super::{Parser, Result};
use crate::syntax::{Span, SyntaxError, SyntaxErrorKind};

impl<'a> Parser<'a> {
    /// The byte at `at`, or 0 at the end. The text itself has no 0.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The next byte, or 0 at the end.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.byte(self.at)
    }

    /// The byte behind the next one, or 0.
    #[inline]
    pub(super) fn peek_second(&self) -> u8 {
        self.byte(self.at + 1)
    }

    /// Tells whether `<(` or `>(` stands at `at`.
    #[inline]
    pub(super) fn is_process_substitution(&self, at: usize) -> bool {
        matches!(self.byte(at), b'<' | b'>') && self.byte(at + 1) == b'('
    }

    /// Finds the first byte in `classes` from `from` on. The end is in all classes of bytes
    /// that are more than themselves.
    #[inline]
    pub(super) fn find(&self, from: usize, classes: u8) -> usize {
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        let length = bytes.iter().position(|byte| is(*byte, classes));
        from + length.unwrap_or(bytes.len())
    }

    /// Finds where a run of bytes in `classes` ends.
    #[inline]
    pub(super) fn run(&self, from: usize, classes: u8) -> usize {
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        let length = bytes.iter().position(|byte| !is(*byte, classes));
        from + length.unwrap_or(bytes.len())
    }

    /// The text from `start` to `end`; empty if one of them is no boundary.
    #[inline]
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The length of the character at `at`.
    pub(super) fn char_length(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        rest.chars().next().map_or(0, char::len_utf8)
    }

    /// Skips spaces, tabs and continued lines.
    #[inline]
    pub(super) fn skip_blanks(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.peek_second() == b'\n' => self.skip_continuation()?,
                _ => return Ok(()),
            }
        }
    }

    /// Skips blanks, comments and ends of lines, and reads here-documents that begin there.
    #[inline]
    pub(super) fn skip_lines(&mut self) -> Result<()> {
        loop {
            self.skip_blanks()?;
            match self.peek() {
                b'\n' => self.newline()?,
                b'#' => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// Reads the end of a line and the here-documents that begin there.
    pub(super) fn newline(&mut self) -> Result<()> {
        self.at += 1;
        self.behind_word = false;
        self.read_documents()
    }

    /// Skips a comment, up to the end of the line.
    pub(super) fn skip_comment(&mut self) -> Result<()> {
        let rest = self.slice(self.at, self.text.len());
        let comment = rest.split('\n').next().unwrap_or_default();
        if let Some(offset) = comment.find('\r') {
            let at = self.at + offset;
            return Err(self.error(SyntaxErrorKind::ForbiddenCharacter, at, at + 1));
        }
        self.at += comment.len();
        Ok(())
    }

    /// Tells whether the text ends here or a comment or a new line begins.
    pub(super) fn at_end_of_line(&self) -> bool {
        matches!(self.peek(), b'\n' | b'#') || self.at >= self.text.len()
    }

    /// The span from `start` to here.
    #[inline]
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    /// An error about the bytes from `start` to `end`.
    pub(super) fn error(&self, kind: SyntaxErrorKind, start: usize, end: usize) -> SyntaxError {
        SyntaxError {
            kind,
            span: Span::new(start, end),
        }
    }

    /// An error about the next character.
    pub(super) fn error_here(&self, kind: SyntaxErrorKind) -> SyntaxError {
        self.error(kind, self.at, self.at + self.char_length(self.at))
    }

    /// The next character has no place here.
    pub(super) fn unexpected(&self) -> SyntaxError {
        match self.peek() {
            b'\r' => self.error_here(SyntaxErrorKind::ForbiddenCharacter),
            _ => self.error_here(SyntaxErrorKind::Unexpected),
        }
    }

    /// What began at `start` is not closed.
    pub(super) fn unterminated(&self, what: &'static str, start: usize) -> SyntaxError {
        self.error(SyntaxErrorKind::Unterminated(what), start, self.text.len())
    }

    /// What stands from `start` to here is Bash, but refused.
    pub(super) fn unsupported(&self, what: &'static str, start: usize) -> SyntaxError {
        let end = self.at.max(start + self.char_length(start));
        self.error(SyntaxErrorKind::Unsupported(what), start, end)
    }
}
