//! Buffered standard output.

use crate::results::{ReaderState, WriteError, write_result};

/// Buffer size that triggers a write, in bytes.
const BUFFER_LEN: usize = 64 * 1024;

/// Buffer for standard output.
#[derive(Debug, Default)]
pub(super) struct Output {
    buffer: String,
}

impl Output {
    /// Adds `text`, and writes the buffer once it is full. After [`ReaderState::Closed`], further output
    /// is pointless.
    pub(super) fn add(&mut self, text: &str) -> Result<ReaderState, WriteError> {
        self.buffer.push_str(text);
        if self.buffer.len() >= BUFFER_LEN {
            self.write()
        } else {
            Ok(ReaderState::Open)
        }
    }

    /// Writes the rest of the buffer.
    pub(super) fn finish(mut self) -> Result<(), WriteError> {
        self.write().map(|_| ())
    }

    fn write(&mut self) -> Result<ReaderState, WriteError> {
        let written = write_result(&self.buffer);
        self.buffer.clear();
        written
    }
}
