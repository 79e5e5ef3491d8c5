//! Parses the bodies of here-documents.

use super::bytes::{ACTIVE_IN_QUOTES, is};
use super::dollar::Quoting;
use super::here_document::PendingHereDocument;
use super::parts::QuotedParts;
use super::{Parser, Result};
use crate::syntax::{HereDocument, Part, Span};

/// The end of a body, and the position after its delimiter.
struct End {
    body: usize,
    delimiter: usize,
}

impl<'a> Parser<'a> {
    /// Reads the body that starts here, and the line of its delimiter.
    pub(super) fn document(
        &mut self,
        announced: PendingHereDocument<'a>,
    ) -> Result<HereDocument<'a>> {
        let start = self.at;
        let end = self.end_of_body(&announced)?;
        let body = if announced.quoted {
            let text = self.slice(start, end.body);
            vec![Part::Quoted(if announced.strips_tabs {
                without_tabs(text)
            } else {
                text.into()
            })]
        } else {
            self.bounded(end.body, |parser| parser.body(announced.strips_tabs))?
        };
        self.at = end.delimiter;
        Ok(HereDocument {
            delimiter: announced.delimiter,
            body,
            span: Span::new(start, end.body),
        })
    }

    /// Finds the line of the delimiter.
    fn end_of_body(&self, announced: &PendingHereDocument<'_>) -> Result<End> {
        let delimiter = announced.delimiter.as_ref();
        let mut at = self.at;
        while at < self.text.len() {
            let (line, continued) = self.line(at, announced.quoted);
            let behind = (at + line.len() + 1).min(self.text.len());
            let stripped = if announced.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if continued {
                // Bash compares the line after it has joined it.
                let joined = stripped.replace("\\\n", "");
                if joined.starts_with(delimiter) {
                    return Err(self.joins(at + line.find("\\\n").unwrap_or(0)));
                }
            } else if stripped == delimiter {
                return Ok(End {
                    body: at,
                    delimiter: behind,
                });
            } else if self.in_substitution && stripped.starts_with(delimiter) && line.contains(')')
            {
                // In a substitution, Bash takes this line for the delimiter, and the rest of the
                // line for commands.
                let (start, end) = (at, at + line.len());
                return Err(self.error(
                    crate::syntax::SyntaxErrorKind::Unsupported("text behind a delimiter"),
                    start,
                    end,
                ));
            }
            at = behind;
        }
        let span = announced.span;
        let kind = crate::syntax::SyntaxErrorKind::Unterminated("here-document");
        Err(self.error(kind, span.start(), span.end()))
    }

    /// Returns the line at `at` without its line break, including continuation lines, and whether
    /// there are any.
    fn line(&self, at: usize, quoted: bool) -> (&'a str, bool) {
        let rest = self.slice(at, self.text.len());
        let mut length = 0;
        let mut continued = false;
        loop {
            let more = rest.get(length..).unwrap_or_default();
            length += more.find('\n').unwrap_or(more.len());
            let line = rest.get(..length).unwrap_or_default();
            let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            if quoted || backslashes % 2 == 0 || length >= rest.len() {
                return (line, continued);
            }
            continued = true;
            length += 1;
        }
    }

    /// Reads the body of a document whose delimiter is not quoted, up to the end.
    fn body(&mut self, strips_tabs: bool) -> Result<Vec<Part<'a>>> {
        let mut parts = QuotedParts::new(self.at);
        if strips_tabs {
            self.skip_tabs(&mut parts);
        }
        // The end of a name without braces: a joined line would continue it.
        let mut name_end = 0;
        loop {
            let at = self.find_in_body(self.at, strips_tabs);
            self.at = at;
            match self.peek() {
                b'\n' => {
                    self.at += 1;
                    self.skip_tabs(&mut parts);
                }
                b'$' | b'`' => {
                    if let Some(part) = self.quoted_expansion(Quoting::HereDocument)? {
                        self.check_expansion_in_body(at, strips_tabs)?;
                        if self.byte(at + 1) != b'{' {
                            name_end = self.at;
                        }
                        parts.push(self.slice(parts.start(), at), part, self.at);
                    }
                }
                b'\\' if self.is_continuation(at) => {
                    if at == name_end {
                        return Err(self.joins(at));
                    }
                    parts.skip(self.slice(parts.start(), at), at + 2);
                    self.at += 2;
                }
                b'\\' if matches!(self.peek_second(), b'$' | b'`' | b'\\') => {
                    parts.skip(self.slice(parts.start(), at), at + 1);
                    self.at += 2;
                }
                _ if at >= self.text.len() => {
                    let rest = self.slice(parts.start(), at);
                    return Ok(parts.finish(rest));
                }
                _ => self.at += 1,
            }
        }
    }

    /// Finds the next byte with a special meaning in a body.
    fn find_in_body(&self, from: usize, lines: bool) -> usize {
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        let found = bytes.iter().position(|byte| {
            is(*byte, ACTIVE_IN_QUOTES) && *byte != b'"' || lines && *byte == b'\n'
        });
        from + found.unwrap_or(bytes.len())
    }

    /// Removes leading tabs of a line.
    fn skip_tabs(&mut self, parts: &mut QuotedParts<'a>) {
        let start = self.at;
        while self.peek() == b'\t' {
            self.at += 1;
        }
        if self.at > start {
            parts.skip(self.slice(parts.start(), start), self.at);
        }
    }

    /// Rejects lines in the expansion that started at `start` if Bash changes them before it parses
    /// the expansion.
    fn check_expansion_in_body(&self, start: usize, strips_tabs: bool) -> Result<()> {
        let raw = self.slice(start, self.at);
        if let Some(offset) = raw.find("\\\n") {
            return Err(self.joins(start + offset));
        }
        if strips_tabs && raw.contains("\n\t") {
            return Err(self.unsupported("an expansion over indented lines", start));
        }
        Ok(())
    }
}

fn without_tabs(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.starts_with('\t') && !text.contains("\n\t") {
        return text.into();
    }
    text.split_inclusive('\n')
        .map(|line| line.trim_start_matches('\t'))
        .collect()
}
