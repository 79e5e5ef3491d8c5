//! Reads a journal file line by line, in memory for one line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::entry::is_torn_line;
use super::read_error::{JournalReadError, corrupt, unread};
use crate::project::plain_file::open_plain_file;

/// The longest line: many times what a run writes.
pub(super) const LONGEST: u64 = 16 * 1024 * 1024;

/// The lines of a journal file. What a kill left of the last line is none.
#[derive(Debug)]
pub(super) struct Lines<R> {
    path: PathBuf,
    input: R,
    next: Position,
    line: Vec<u8>,
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The number of bytes before it.
    pub(super) offset: u64,
    /// Its number, from 1.
    pub(super) number: usize,
}

impl Position {
    /// The first line of a file.
    pub(super) const START: Self = Self {
        offset: 0,
        number: 1,
    };
}

/// Opens the journal at `path` if there is one of at most `largest` bytes.
pub(super) fn open(path: &Path, largest: u64) -> Result<Option<File>, JournalReadError> {
    open_plain_file(path, largest).map_err(|error| unread(path, error))
}

impl<R: Read> Lines<BufReader<R>> {
    /// Reads the lines of `input`, which begins at `start` of the file at `path`.
    pub(super) fn new(path: &Path, input: R, start: Position) -> Self {
        Self {
            path: path.to_owned(),
            input: BufReader::with_capacity(64 * 1024, input),
            next: start,
            line: Vec::new(),
        }
    }

    /// Reads the next line, with its end.
    pub(super) fn next_line(&mut self) -> Result<Option<(Position, &[u8])>, JournalReadError> {
        self.line.clear();
        let mut input = (&mut self.input).take(LONGEST + 1);
        let read = input.read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| JournalReadError::Unreadable {
            path: self.path.clone(),
            source,
        })?;
        let at = self.next;
        if read as u64 > LONGEST {
            return Err(corrupt(&self.path, at.number, "it is longer than 16 MiB"));
        }
        // Anything else at the end is not ours, so it is not ours to leave out either.
        if !self.line.ends_with(b"\n") && is_torn_line(&self.line) {
            return Ok(None);
        }
        self.next.offset += read as u64;
        self.next.number += 1;
        Ok(Some((at, &self.line)))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::rc::Rc;

    use super::*;

    /// A file of endless lines, and how much of it was read.
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
        let mut lines = Lines::new(Path::new("journal.jsonl"), endless, Position::START);

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
        let mut lines = Lines::new(Path::new("journal.jsonl"), endless, Position::START);

        let error = lines.next_line().expect_err("it is too long");

        assert!(matches!(error, JournalReadError::Corrupt { number: 1, .. }));
    }
}
