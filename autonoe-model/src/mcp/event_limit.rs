//! How long an event of a stream may be.

use std::io;

use bytes::Bytes;

/// Sees that no event of a stream is longer than is allowed.
#[derive(Debug)]
pub(super) struct EventLimit {
    longest: usize,
    /// How many bytes were seen since the last empty line.
    seen: usize,
    /// Whether the line that is being seen has nothing in it so far.
    is_empty: bool,
}

impl EventLimit {
    pub(super) fn new(longest: usize) -> Self {
        Self {
            longest,
            seen: 0,
            is_empty: true,
        }
    }

    /// Lets a piece of the stream pass.
    ///
    /// # Errors
    ///
    /// An event is too long.
    pub(super) fn take(&mut self, piece: Bytes) -> io::Result<Bytes> {
        for byte in &piece {
            match byte {
                b'\n' | b'\r' if self.is_empty => self.seen = 0,
                b'\n' | b'\r' => self.is_empty = true,
                _ => self.is_empty = false,
            }
            self.seen += 1;
            if self.seen > self.longest {
                let longest = self.longest;
                return Err(io::Error::other(format!(
                    "it sent a message of more than {longest} bytes"
                )));
            }
        }
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(pieces: &[&str]) -> bool {
        let mut limit = EventLimit::new(20);
        let mut pieces = pieces.iter();
        pieces.all(|piece| limit.take(Bytes::copy_from_slice(piece.as_bytes())).is_ok())
    }

    #[test]
    fn many_events_pass_and_a_long_one_does_not() {
        let long = "x".repeat(15);
        assert!(passes(&[
            "data: 1\n\ndata: 2\n\ndata: 3\n\n",
            "data: 4\n\n"
        ]));
        assert!(passes(&["data: 1\r\n\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n"]));
        assert!(passes(&[&long, "\n\n", &long, "\n\n"]));
        assert!(!passes(&[&long, &long]));
        assert!(!passes(&[&long, "\n", &long]));
    }
}
