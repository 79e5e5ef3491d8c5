//! Bytes in, lines out.

use bytes::{Bytes, BytesMut};
use memchr::{memchr_iter, memrchr};

use super::Line;

/// Cuts what the program writes into lines.
///
/// Bytes may come in any portions: the lines are the same. Only the byte `\n`
/// ends a line, because U+2028 and its like occur inside of strings. A line that
/// does not start with `{` is no message; it is skipped and counted.
///
/// A line that is longer than the limit is an error for good: it could have
/// been a question that waits for an answer, so going on without it would not
/// be safe. The lines before it are still handed out.
///
/// ```
/// use autonoe_claude::wire::{Kind, LineReader};
///
/// let mut reader = LineReader::new();
/// reader.feed(b"{\"type\":\"assist");
/// assert!(reader.take()?.is_empty());
///
/// reader.feed(b"ant\"}\nnot a message\n{\"type\":");
/// let lines = reader.take()?;
///
/// assert_eq!(lines.len(), 1);
/// assert_eq!(lines[0].kind(), Kind::Assistant);
/// assert_eq!(reader.skipped(), 1);
/// # Ok::<(), autonoe_claude::wire::LineTooLong>(())
/// ```
#[derive(Debug)]
pub struct LineReader {
    buffer: BytesMut,
    /// How much of the buffer is known to hold no end of a line.
    scanned: usize,
    limit: usize,
    skipped: u64,
    failed: bool,
}

/// The least room for a read.
const LEAST_ROOM: usize = 16 * 1024;

/// The room that is made when less than that is left: several reads share it.
const ROOM: usize = 64 * 1024;

impl LineReader {
    /// The longest line that is read unless another limit is set: 64 MiB.
    pub const LIMIT: usize = 64 * 1024 * 1024;

    /// Makes a reader with the limit [`LIMIT`](Self::LIMIT).
    pub fn new() -> Self {
        Self::with_limit(Self::LIMIT)
    }

    /// Makes a reader of lines of up to `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            skipped: 0,
            failed: false,
        }
    }

    /// Returns the buffer to read into, with room for a large read.
    ///
    /// Add to its end and then [`take`](Self::take) the lines.
    pub fn buffer(&mut self) -> &mut BytesMut {
        if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
            self.buffer.reserve(ROOM);
        }
        &mut self.buffer
    }

    /// Adds `bytes` to what was read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the lines that are complete, in order; none is no error.
    ///
    /// # Errors
    ///
    /// A line is longer than the limit. Every later call says so again.
    pub fn take(&mut self) -> Result<Vec<Line>, LineTooLong> {
        self.check()?;
        let Some(last) = memrchr(b'\n', self.buffer.get(self.scanned..).unwrap_or_default()) else {
            self.scanned = self.buffer.len();
            if self.buffer.len() > self.limit {
                self.fail();
            }
            return self.check().map(|()| Vec::new());
        };
        let complete = self.buffer.split_to(self.scanned + last + 1).freeze();
        self.scanned = self.buffer.len();
        let lines = self.cut(&complete);
        if self.buffer.len() > self.limit {
            self.fail();
        }
        // What came before a line that is too long is handed out first.
        if lines.is_empty() {
            self.check()?;
        }
        Ok(lines)
    }

    /// Returns the last line, for input that ended without an end of line.
    ///
    /// A message that was cut off is among what this returns; it cannot be
    /// mistaken for a whole one, because it cannot be read.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take).
    pub fn finish(&mut self) -> Result<Vec<Line>, LineTooLong> {
        let mut lines = self.take()?;
        if !self.failed && !self.buffer.is_empty() {
            let rest = self.buffer.split().freeze();
            self.scanned = 0;
            self.keep(rest, &mut lines);
        }
        Ok(lines)
    }

    /// Returns how many lines were no messages.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns how many bytes wait for the end of their line.
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    fn cut(&mut self, complete: &Bytes) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut start = 0;
        for end in memchr_iter(b'\n', complete) {
            if end - start > self.limit {
                self.fail();
                break;
            }
            self.keep(complete.slice(start..end), &mut lines);
            start = end + 1;
        }
        lines
    }

    fn keep(&mut self, bytes: Bytes, lines: &mut Vec<Line>) {
        match Line::new(bytes) {
            Ok(line) => lines.push(line),
            Err(other) => {
                self.skipped += 1;
                let shown = other.get(..other.len().min(200)).unwrap_or_default();
                tracing::debug!(line = %shown.escape_ascii(), "skipped a line that is no message");
            }
        }
    }

    fn fail(&mut self) {
        self.failed = true;
        self.buffer = BytesMut::new();
        self.scanned = 0;
    }

    fn check(&mut self) -> Result<(), LineTooLong> {
        if self.failed {
            // What is fed after the failure must not pile up.
            self.buffer.clear();
            return Err(LineTooLong { limit: self.limit });
        }
        Ok(())
    }
}

impl Default for LineReader {
    fn default() -> Self {
        Self::new()
    }
}

/// A line is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Claude Code wrote a line of more than {limit} bytes")]
pub struct LineTooLong {
    /// The longest line that is read.
    pub limit: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<&str> {
        let text = |line| std::str::from_utf8(Line::raw(line)).expect("text");
        lines.iter().map(text).collect()
    }

    #[test]
    fn only_the_byte_of_a_new_line_ends_a_line() {
        let mut reader = LineReader::new();

        reader.feed("{\"a\":\"\u{2028}\u{2029}\u{85}\r\"}\r\n{}\n".as_bytes());

        let lines = reader.take().expect("short lines");
        assert_eq!(
            texts(&lines),
            ["{\"a\":\"\u{2028}\u{2029}\u{85}\r\"}\r", "{}"]
        );
    }

    #[test]
    fn what_is_no_message_is_skipped_and_counted() {
        let mut reader = LineReader::new();

        reader.feed(b"\n[SandboxDebug] noise\n   \r\n\"text\"\n \t{\"type\":\"user\"}\n");

        let lines = reader.take().expect("short lines");
        assert_eq!(texts(&lines), ["{\"type\":\"user\"}"]);
        assert_eq!(reader.skipped(), 4);
    }

    #[test]
    fn a_line_of_just_the_limit_is_read_and_a_longer_one_is_an_error_for_good() {
        let mut reader = LineReader::with_limit(4);

        reader.feed(b"{12}\n{}\n{123}\n{}\n");

        assert_eq!(
            texts(&reader.take().expect("the first two")),
            ["{12}", "{}"]
        );
        assert_eq!(reader.take().unwrap_err(), LineTooLong { limit: 4 });
        reader.feed(b"{}\n");
        assert_eq!(reader.take().unwrap_err(), LineTooLong { limit: 4 });
        assert_eq!(reader.finish().unwrap_err(), LineTooLong { limit: 4 });
    }

    #[test]
    fn a_line_without_an_end_stops_at_the_limit() {
        let mut reader = LineReader::with_limit(1000);

        for _ in 0..100_000 {
            reader.feed(&[b'{'; 100]);
            let _ = reader.take();
            assert!(reader.pending() <= 1100);
        }

        assert!(reader.take().is_err());
    }

    #[test]
    fn the_rest_without_an_end_of_line_is_handed_out_at_the_end() {
        let mut reader = LineReader::new();

        reader.feed(b"{\"type\":\"user\"}\n{\"type\":\"result\",\"sub");

        assert_eq!(reader.take().expect("one line").len(), 1);
        assert_eq!(
            texts(&reader.finish().expect("the rest")),
            ["{\"type\":\"result\",\"sub"]
        );
        assert!(reader.finish().expect("nothing").is_empty());
    }
}
