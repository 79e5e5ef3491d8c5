//! Standard output in parts of bounded size.

use crate::results::{Reader, Unwritten, write_result};

/// How much text is collected before it is written.
const PART: usize = 64 * 1024;

/// Text for standard output that is written in parts.
#[derive(Debug, Default)]
pub(super) struct Output {
    waiting: String,
}

impl Output {
    /// Adds `text`, and writes what was collected once that is enough. After [`Reader::Gone`], nobody
    /// reads it any more.
    pub(super) fn add(&mut self, text: &str) -> Result<Reader, Unwritten> {
        self.waiting.push_str(text);
        match self.waiting.len() >= PART {
            true => self.write(),
            false => Ok(Reader::There),
        }
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> Result<(), Unwritten> {
        self.write().map(|_| ())
    }

    fn write(&mut self) -> Result<Reader, Unwritten> {
        let written = write_result(&self.waiting);
        self.waiting.clear();
        written
    }
}
