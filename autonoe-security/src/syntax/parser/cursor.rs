//! Cursor over the text of a script.

use super::bytes::is;
use super::{Parser, Result};
use crate::syntax::{Span, SyntaxError, SyntaxErrorKind};

impl<'a> Parser<'a> {
    /// Returns the byte at `at`, or 0 at the end. The text itself has no 0.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Returns the next byte, or 0 at the end.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.byte(self.at)
    }

    /// Returns the byte after the next one, or 0.
    #[inline]
    pub(super) fn peek_second(&self) -> u8 {
        self.byte(self.at + 1)
    }

    /// Returns whether `<(` or `>(` is at `at`.
    #[inline]
    pub(super) fn is_process_substitution(&self, at: usize) -> bool {
        matches!(self.byte(at), b'<' | b'>') && self.byte(at + 1) == b'('
    }

    /// Finds the first byte in `classes` starting at `from`. The end is in all classes of special
    /// bytes.
    #[inline]
    pub(super) fn find(&self, from: usize, classes: u8) -> usize {
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        let length = bytes.iter().position(|byte| is(*byte, classes));
        from + length.unwrap_or(bytes.len())
    }

    /// Finds the end of a run of bytes in `classes`.
    #[inline]
    pub(super) fn run(&self, from: usize, classes: u8) -> usize {
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        let length = bytes.iter().position(|byte| !is(*byte, classes));
        from + length.unwrap_or(bytes.len())
    }

    /// Returns the text from `start` to `end`; empty if one of them is not a character boundary.
    #[inline]
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the length of the character at `at`.
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

    /// Skips blanks, comments and line breaks, and reads here-documents that start there.
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

    /// Reads a line break and the here-documents that start after it.
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

    /// Returns whether the text ends here, or a comment or a new line starts.
    pub(super) fn at_end_of_line(&self) -> bool {
        matches!(self.peek(), b'\n' | b'#') || self.at >= self.text.len()
    }

    /// Returns the span from `start` to here.
    #[inline]
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    /// Creates an error for the bytes from `start` to `end`.
    pub(super) fn error(&self, kind: SyntaxErrorKind, start: usize, end: usize) -> SyntaxError {
        SyntaxError {
            kind,
            span: Span::new(start, end),
        }
    }

    /// Creates an error for the next character.
    pub(super) fn error_here(&self, kind: SyntaxErrorKind) -> SyntaxError {
        self.error(kind, self.at, self.at + self.char_length(self.at))
    }

    /// Creates the error for an unexpected character.
    pub(super) fn unexpected(&self) -> SyntaxError {
        match self.peek() {
            b'\r' => self.error_here(SyntaxErrorKind::ForbiddenCharacter),
            _ => self.error_here(SyntaxErrorKind::Unexpected),
        }
    }

    /// Creates the error for a construct that started at `start` and is not closed.
    pub(super) fn unterminated(&self, construct: &'static str, start: usize) -> SyntaxError {
        self.error(
            SyntaxErrorKind::Unterminated(construct),
            start,
            self.text.len(),
        )
    }

    /// Creates the error for valid Bash from `start` to here that is rejected.
    pub(super) fn unsupported(&self, construct: &'static str, start: usize) -> SyntaxError {
        let end = self.at.max(start + self.char_length(start));
        self.error(SyntaxErrorKind::Unsupported(construct), start, end)
    }
}
