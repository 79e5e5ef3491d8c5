//! [`LogLines`], a bounded reader of the lines of an [`AppendLog`](super::AppendLog), from a
//! cursor.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::append_log::LogEntry;
use super::journal::{JournalReadError, corrupt, unread};
use super::json_error::json_error_message_without_position;
use super::safe_read::{open_file, without_bom};

/// The maximum length of a line, in bytes.
pub(super) const MAX_LINE_LEN: u64 = 16 * 1024 * 1024;

/// Reads lines one by one. It holds one line in memory.
#[derive(Debug)]
pub(super) struct LogLines<T, R> {
    path: PathBuf,
    input: R,
    next: Position,
    line: Vec<u8>,
    entries: PhantomData<fn(&T)>,
}

/// The start of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// In bytes.
    pub(super) offset: u64,
    /// The number of the line, from 1.
    pub(super) number: usize,
}

impl Position {
    pub(super) const START: Self = Self {
        offset: 0,
        number: 1,
    };
}

/// Opens the log at `path`, or returns `None` if there is none.
pub(super) fn open(path: &Path, largest: u64) -> Result<Option<File>, JournalReadError> {
    open_file(path, largest).map_err(|error| unread(path, error))
}

impl<T: LogEntry, R: Read> LogLines<T, BufReader<R>> {
    /// Reads `input`, which begins at `start` of the file at `path`.
    pub(super) fn new(path: &Path, input: R, start: Position) -> Self {
        Self {
            path: path.to_owned(),
            input: BufReader::with_capacity(64 * 1024, input),
            next: start,
            line: Vec::new(),
            entries: PhantomData,
        }
    }

    /// Returns the start and the bytes of the next line, with its end. A torn line at the end of
    /// the file is skipped; any other text there is returned.
    pub(super) fn next_line(&mut self) -> Result<Option<(Position, &[u8])>, JournalReadError> {
        let at = self.next;
        if !self.read_line()? && is_torn_line::<T>(&self.line) {
            Ok(None)
        } else {
            Ok(Some((at, &self.line)))
        }
    }

    /// Returns the next line that has an end. The rest of the file is still being written.
    pub(super) fn next_whole_line(
        &mut self,
    ) -> Result<Option<(Position, &[u8])>, JournalReadError> {
        let at = self.next;
        if self.read_line()? {
            Ok(Some((at, &self.line)))
        } else {
            Ok(None)
        }
    }

    /// Returns the start of the line after the one that was returned last.
    pub(super) fn position(&self) -> Position {
        self.next
    }

    /// Reads a line; returns `false` if it has no end.
    fn read_line(&mut self) -> Result<bool, JournalReadError> {
        self.line.clear();
        let mut input = (&mut self.input).take(MAX_LINE_LEN + 1);
        let read = input.read_until(b'\n', &mut self.line).map_err(|source| {
            JournalReadError::Unreadable {
                path: self.path.clone(),
                source,
            }
        })?;
        if read as u64 > MAX_LINE_LEN {
            let number = self.next.number;
            return Err(corrupt(&self.path, number, "it is longer than 16 MiB"));
        }
        self.next.offset += read as u64;
        self.next.number += 1;
        Ok(self.line.ends_with(b"\n"))
    }
}

/// Returns whether `tail`, the text after the last whole line, is what a kill or a power cut leaves
/// of a line: its beginning, zeros, or both.
pub(super) fn is_torn_line<T: LogEntry>(tail: &[u8]) -> bool {
    let end = tail.iter().rposition(|byte| *byte != 0);
    let text = &tail[..end.map_or(0, |last| last + 1)];
    let starts_as = |start: &&[u8]| text.iter().zip(*start).all(|(byte, own)| byte == own);
    T::STARTS.iter().any(starts_as)
}

/// Parses line `number` of the file at `path`.
pub(super) fn parse_line<T: LogEntry>(
    path: &Path,
    number: usize,
    line: &[u8],
) -> Result<T, JournalReadError> {
    #[derive(serde::Deserialize)]
    struct Version {
        v: u32,
    }

    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = match number {
        1 => without_bom(line),
        _ => line,
    };
    #[cfg(test)]
    PARSED.with(|parsed| parsed.set(parsed.get() + 1));
    let unknown = |version| JournalReadError::UnknownVersion {
        path: path.to_owned(),
        number,
        version,
    };
    match serde_json::from_slice::<T>(line) {
        Ok(entry) if entry.version() == T::VERSION => Ok(entry),
        Ok(entry) => Err(unknown(entry.version())),
        // A line of another version need not have the fields of this one.
        Err(error) => match serde_json::from_slice(line) {
            Ok(Version { v }) if v != T::VERSION => Err(unknown(v)),
            _ => Err(corrupt(path, number, message(&error))),
        },
    }
}

fn message(error: &serde_json::Error) -> String {
    let message = json_error_message_without_position(error);
    // The position of a wrong value is the end of the line.
    if error.is_data() {
        message
    } else {
        format!("{message} at column {}", error.column())
    }
}

#[cfg(test)]
thread_local! {
    static PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the number of lines that this thread has parsed.
#[cfg(test)]
pub(super) fn parsed_lines() -> usize {
    PARSED.with(std::cell::Cell::get)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::rc::Rc;

    use super::*;
    use crate::project::JournalEntry;

    /// A file of endless lines, with the number of bytes that were read.
    struct Endless {
        line: Vec<u8>,
        read: Rc<Cell<usize>>,
    }

    impl Read for Endless {
        fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
            let from = self.read.get();
            for (index, byte) in part.iter_mut().enumerate() {
                *byte = self.line[(from + index) % self.line.len()];
            }
            self.read.set(from + part.len());
            Ok(part.len())
        }
    }

    #[test]
    fn a_line_is_returned_before_the_next_ones_are_read() {
        let read = Rc::new(Cell::new(0));
        let line = [vec![b'x'; 999], vec![b'\n']].concat();
        let endless = Endless {
            line: line.clone(),
            read: read.clone(),
        };
        let mut lines =
            LogLines::<JournalEntry, _>::new(Path::new("journal.jsonl"), endless, Position::START);

        for number in 1..=1000 {
            let (at, text) = lines.next_line().expect("readable").expect("a line");
            assert_eq!((at.number, text), (number, &line[..]));
            assert!(read.get() <= number * 1000 + 64 * 1024, "{}", read.get());
        }
        assert!(lines.line.capacity() <= 64 * 1024);
    }

    #[test]
    fn a_line_without_an_end_does_not_fill_the_memory() {
        let endless = Endless {
            line: vec![b'x'],
            read: Rc::default(),
        };
        let mut lines =
            LogLines::<JournalEntry, _>::new(Path::new("journal.jsonl"), endless, Position::START);

        let error = lines.next_line().expect_err("it is too long");

        assert!(matches!(error, JournalReadError::Corrupt { number: 1, .. }));
    }
}
