//! [`SseParser`]: parser of server-sent events.

use std::collections::VecDeque;

use crate::wire::ServerEvent;

/// Maximum size of one event in bytes.
pub(super) const MAX_EVENT_BYTES: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Splits bytes into events, however the bytes are chunked.
///
/// Implements the `text/event-stream` format: lines end with CR, LF or both, a blank line ends an
/// event, comments and unknown fields are skipped, and an event without data is ignored. Each byte
/// is processed once.
#[derive(Debug)]
pub(super) struct SseParser {
    largest: usize,
    /// Current incomplete line.
    line: Vec<u8>,
    /// The last byte was a CR: a following LF belongs to the same line end.
    ended_with_cr: bool,
    is_first_line: bool,
    name: String,
    /// Data of the current incomplete event, with a line feed after every line.
    data: String,
    events: VecDeque<ServerEvent>,
    /// Whether there was a line that is not valid in an event.
    has_foreign_line: bool,
}

/// Reason that bytes are no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("the provider sent an event of more than {0} bytes")]
    TooLarge(usize),
    #[error("the provider sent text that is not UTF-8")]
    NoText,
}

impl Default for SseParser {
    fn default() -> Self {
        Self::new(MAX_EVENT_BYTES)
    }
}

impl SseParser {
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

    /// Processes the next bytes.
    ///
    /// # Errors
    ///
    /// The bytes are no events. Earlier events can still be read.
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

    /// Returns the next complete event, if there is one.
    pub(super) fn next_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Returns the unfinished event at the end of the input. It may be truncated.
    pub(super) fn rest(&mut self) -> Option<ServerEvent> {
        self.end_line().ok()?;
        self.end_event();
        self.events.pop_back()
    }

    /// Returns whether there was a line that is not valid in an event, as in an HTML page.
    pub(super) fn has_invalid_line(&self) -> bool {
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
        // Reuses the memory of the line.
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
