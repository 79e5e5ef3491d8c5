//! Bytes become events.

use std::collections::VecDeque;

use crate::wire::ServerEvent;

/// The most bytes that one event may have.
pub(super) const LARGEST_EVENT: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Makes events of bytes, however these are cut into pieces.
///
/// It follows the `text/event-stream` format: lines end with CR, LF or both, a blank line
/// ends an event, comments and fields that it does not know are skipped, an event without
/// data is none. Each byte is looked at once.
#[derive(Debug)]
pub(super) struct Framer {
    largest: usize,
    /// The line that has not ended.
    line: Vec<u8>,
    /// The last byte was a CR: an LF that follows belongs to it.
    ended_with_cr: bool,
    is_first_line: bool,
    name: String,
    /// The data of the event that has not ended, with a line feed behind every line.
    data: String,
    events: VecDeque<ServerEvent>,
    /// There was a line that no event has.
    has_foreign_line: bool,
}

/// Why bytes are no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("the provider sent an event of more than {0} bytes")]
    TooLarge(usize),
    #[error("the provider sent what is no text")]
    NoText,
}

impl Default for Framer {
    fn default() -> Self {
        Self::new(LARGEST_EVENT)
    }
}

impl Framer {
    pub(super) fn new(largest: usize) -> Self {
        Self {
            largest,
            line: Vec::new(),
            ended_with_cr: false,
            is_first_line: true,
            name: String::new(),
            data: String::new(),
            events: VecDeque::new(),
            has_foreign_line: false,
        }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// They make no events. Events before them can still be taken.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Result<(), FrameError> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.ended_with_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\r', b'\n', bytes);
            self.line
                .extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            if self.line.len() + self.data.len() > self.largest {
                return Err(FrameError::TooLarge(self.largest));
            }
            let Some(end) = end else { break };
            self.ended_with_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line()?;
        }
        Ok(())
    }

    /// Returns the next whole event, if there is one.
    pub(super) fn next_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Returns the event that has begun when no more bytes come. It may be a part of one.
    pub(super) fn rest(&mut self) -> Option<ServerEvent> {
        self.end_line().ok()?;
        self.end_event();
        self.events.pop_back()
    }

    /// Tells whether there was a line that no event has: a page or a document has many.
    pub(super) fn has_foreign_line(&self) -> bool {
        self.has_foreign_line
    }

    fn end_line(&mut self) -> Result<(), FrameError> {
        let mut line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        }
        if text.is_empty() {
            self.end_event();
        } else {
            self.field(text)?;
        }
        // Its memory serves the next one.
        line.clear();
        self.line = line;
        Ok(())
    }

    fn field(&mut self, line: &[u8]) -> Result<(), FrameError> {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || std::str::from_utf8(value).map_err(|_| FrameError::NoText);
        match &line[..colon] {
            b"data" => {
                self.data.push_str(text()?);
                self.data.push('\n');
            }
            b"event" => text()?.clone_into(&mut self.name),
            b"" | b"id" | b"retry" => {}
            _ => self.has_foreign_line = true,
        }
        Ok(())
    }

    fn end_event(&mut self) {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        data.pop();
        if !data.is_empty() {
            self.events.push_back(ServerEvent { name, data });
        }
    }
}

#[cfg(test)]
mod tests;
