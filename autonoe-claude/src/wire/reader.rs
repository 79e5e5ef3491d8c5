//! [`LineReader`], which splits bytes into lines.

use bytes::{Bytes, BytesMut};
use memchr::{memchr_iter, memrchr};

use super::Line;

/// Splits the output of the program into lines.
///
/// Bytes may arrive in any chunks: the lines are the same. Only the byte `\n` ends a line, because U+2028 and similar characters occur inside of strings. A line that does
/// not start with `{` is not a message; it is skipped and counted.
///
/// A line that is longer than the limit is a permanent error: it could have been a request that
/// waits for an answer, so it is not safe to continue. The lines before it are still returned.
///
/// ```
/// use autonoe_claude::wire::LineReader;
///
/// let mut reader = LineReader::new();
/// reader.feed(b"{\"type\":\"assist");
/// assert!(reader.take_lines()?.is_empty());
///
/// reader.feed(b"ant\"}\nnot a message\n{\"type\":");
/// let lines = reader.take_lines()?;
///
/// assert_eq!(lines.len(), 1);
/// assert_eq!(lines[0].type_name(), "assistant");
/// assert_eq!(reader.skipped(), 1);
/// # Ok::<(), autonoe_claude::wire::LineTooLong>(())
/// ```
#[derive(Debug)]
pub struct LineReader {
    buffer: BytesMut,
    /// The length of the buffer's prefix without a line feed.
    scanned: usize,
    limit: usize,
    skipped: u64,
    failed: bool,
}

/// Minimum free capacity for a read.
const MIN_CAPACITY: usize = 16 * 1024;

/// Capacity that is reserved when less is free: several reads share it.
const RESERVED_CAPACITY: usize = 64 * 1024;

impl LineReader {
    /// Default limit of a line: 64 MiB.
    pub const LIMIT: usize = 64 * 1024 * 1024;

    /// Creates a reader with the limit [`LIMIT`](Self::LIMIT).
    pub fn new() -> Self {
        Self::with_limit(Self::LIMIT)
    }

    /// Creates a reader of lines of up to `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            skipped: 0,
            failed: false,
        }
    }

    /// Returns the buffer to read into, with capacity for a large read.
    ///
    /// Append to it and then `take` the lines.
    pub fn buffer(&mut self) -> &mut BytesMut {
        if self.buffer.capacity() - self.buffer.len() < MIN_CAPACITY {
            self.buffer.reserve(RESERVED_CAPACITY);
        }
        &mut self.buffer
    }

    /// Appends `bytes` to the buffer.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the complete lines, in order. An empty result is not an error.
    ///
    /// # Errors
    ///
    /// A line is longer than the limit. Every later call returns the error again.
    pub fn take_lines(&mut self) -> Result<Vec<Line>, LineTooLong> {
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
        // Lines before one that is too long are returned first.
        if lines.is_empty() {
            self.check()?;
        }
        Ok(lines)
    }

    /// Returns the last line, for input that ended without a line feed.
    ///
    /// A truncated message is included. It cannot be mistaken for a whole one, because parsing it
    /// fails.
    ///
    /// # Errors
    ///
    /// Returns the errors of `take`.
    pub fn finish(&mut self) -> Result<Vec<Line>, LineTooLong> {
        let mut lines = self.take_lines()?;
        if !self.failed && !self.buffer.is_empty() {
            let rest = self.buffer.split().freeze();
            self.scanned = 0;
            self.push_line(rest, &mut lines);
        }
        Ok(lines)
    }

    /// Returns the number of lines that were not messages.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns the number of bytes of the incomplete line.
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
            self.push_line(complete.slice(start..end), &mut lines);
            start = end + 1;
        }
        lines
    }

    fn push_line(&mut self, bytes: Bytes, lines: &mut Vec<Line>) {
        match Line::new(bytes) {
            Ok(line) => lines.push(line),
            Err(other) => {
                self.skipped += 1;
                let head = other.get(..other.len().min(200)).unwrap_or_default();
                tracing::debug!(
                    line = %head.escape_ascii(),
                    "skipped a line that is not a message"
                );
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
            // Input after the failure must not accumulate.
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

/// Error of a line that is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Claude Code wrote a line of more than {limit} bytes")]
pub struct LineTooLong {
    /// The limit in bytes.
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

        let lines = reader.take_lines().expect("short lines");
        assert_eq!(
            texts(&lines),
            ["{\"a\":\"\u{2028}\u{2029}\u{85}\r\"}\r", "{}"]
        );
    }

    #[test]
    fn lines_that_are_not_messages_are_skipped_and_counted() {
        let mut reader = LineReader::new();

        reader.feed(b"\n[SandboxDebug] noise\n   \r\n\"text\"\n \t{\"type\":\"user\"}\n");

        let lines = reader.take_lines().expect("short lines");
        assert_eq!(texts(&lines), ["{\"type\":\"user\"}"]);
        assert_eq!(reader.skipped(), 4);
    }

    #[test]
    fn a_line_of_just_the_limit_is_read_and_a_longer_one_is_an_error_for_good() {
        let mut reader = LineReader::with_limit(4);

        reader.feed(b"{12}\n{}\n{123}\n{}\n");

        assert_eq!(
            texts(&reader.take_lines().expect("the first two")),
            ["{12}", "{}"]
        );
        assert_eq!(reader.take_lines().unwrap_err(), LineTooLong { limit: 4 });
        reader.feed(b"{}\n");
        assert_eq!(reader.take_lines().unwrap_err(), LineTooLong { limit: 4 });
        assert_eq!(reader.finish().unwrap_err(), LineTooLong { limit: 4 });
    }

    #[test]
    fn a_line_without_an_end_stops_at_the_limit() {
        let mut reader = LineReader::with_limit(1000);

        for _ in 0..100_000 {
            reader.feed(&[b'{'; 100]);
            let _ = reader.take_lines();
            assert!(reader.pending() <= 1100);
        }

        assert!(reader.take_lines().is_err());
    }

    #[test]
    fn the_rest_without_a_line_feed_is_returned_at_the_end() {
        let mut reader = LineReader::new();

        reader.feed(b"{\"type\":\"user\"}\n{\"type\":\"result\",\"sub");

        assert_eq!(reader.take_lines().expect("one line").len(), 1);
        assert_eq!(
            texts(&reader.finish().expect("the rest")),
            ["{\"type\":\"result\",\"sub"]
        );
        assert!(reader.finish().expect("nothing").is_empty());
    }
}
