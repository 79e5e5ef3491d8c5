//! [`StderrTail`], a buffer for the end of a long text.

use std::collections::VecDeque;

/// Keeps the last bytes that were written to it, and discards the rest.
#[derive(Debug)]
pub(crate) struct StderrTail {
    bytes: VecDeque<u8>,
    limit: usize,
    is_cut: bool,
}

impl StderrTail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            limit,
            is_cut: false,
        }
    }

    pub(crate) fn push(&mut self, new: &[u8]) {
        let added = &new[new.len().saturating_sub(self.limit)..];
        let room = self.limit - added.len();
        let surplus = self.bytes.len().saturating_sub(room);
        self.is_cut |= surplus > 0 || added.len() < new.len();
        self.bytes.drain(..surplus);
        self.bytes.extend(added);
    }

    /// Returns the text. Invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        let (first, second) = self.bytes.as_slices();
        let bytes = [first, second].concat();
        // A character that was cut at the limit is left out.
        let cut = |byte: &&u8| self.is_cut && **byte & 0b1100_0000 == 0b1000_0000;
        let skipped = bytes.iter().take(3).take_while(cut).count();
        String::from_utf8_lossy(&bytes[skipped..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_that_was_cut_is_left_out() {
        let mut tail = StderrTail::new(4);

        tail.push("aéü.".as_bytes());
        assert_eq!(tail.text(), "ü.");
    }

    #[test]
    fn invalid_utf8_becomes_replacement_characters() {
        let mut tail = StderrTail::new(4);

        tail.push(b"\x80.");
        assert_eq!(tail.text(), "\u{fffd}.");
    }

    proptest! {
        #[test]
        fn the_tail_is_the_end_of_all_that_was_written(
            pieces in prop::collection::vec("[a-z]{0,20}", 0..20),
            limit in 0_usize..50,
        ) {
            let mut tail = StderrTail::new(limit);
            for piece in &pieces {
                tail.push(piece.as_bytes());
            }

            let all = pieces.concat();
            prop_assert_eq!(tail.text(), &all[all.len().saturating_sub(limit)..]);
        }
    }
}
