//! [`HeadAndTail`]: bounded buffer with the beginning and the end of a text.

use std::collections::VecDeque;

/// Keeps the first and the last bytes written to it, and counts the rest.
///
/// Memory use is bounded by the limit, however much is written.
#[derive(Debug)]
pub(crate) struct HeadAndTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    left_out: u64,
}

impl HeadAndTail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit: limit / 2,
            tail_limit: limit - limit / 2,
            left_out: 0,
        }
    }

    pub(crate) fn push(&mut self, new: &[u8]) {
        let room = self.head_limit - self.head.len();
        let (to_head, rest) = new.split_at(room.min(new.len()));
        self.head.extend_from_slice(to_head);
        let tail = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let surplus = (self.tail.len() + tail.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..surplus);
        self.tail.extend(tail);
        self.left_out += (rest.len() - tail.len() + surplus) as u64;
    }

    /// Returns the number of removed bytes.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the text, with a note in place of the removed part.
    ///
    /// Invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        let (first, second) = self.tail.as_slices();
        let tail = [first, second].concat();
        if self.left_out == 0 {
            let all = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let (head, end) = (without_cut_end(&self.head), without_cut_start(&tail));
        let halves = self.head.len() - head.len() + tail.len() - end.len();
        let cut = self.left_out + halves as u64;
        format!(
            "{}\n[... {cut} bytes left out ...]\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(end)
        )
    }
}

/// Removes an incomplete character at the end.
pub(super) fn without_cut_end(bytes: &[u8]) -> &[u8] {
    match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => match bytes.utf8_chunks().last() {
            Some(last) if is_beginning(last.invalid()) => {
                &bytes[..bytes.len() - last.invalid().len()]
            }
            _ => bytes,
        },
    }
}

fn is_beginning(bytes: &[u8]) -> bool {
    !bytes.is_empty() && str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let continues = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    &bytes[bytes.iter().take(3).take_while(continues).count()..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_that_was_cut_is_left_out() {
        for (limit, expected) in [
            (6, "aé\n[... 6 bytes left out ...]\nx."),
            (8, "aé\n[... 4 bytes left out ...]\näx."),
        ] {
            let mut buffer = HeadAndTail::new(limit);

            buffer.push("aéüöäx.".as_bytes());

            assert_eq!(buffer.text(), expected);
        }
    }

    #[test]
    fn invalid_utf8_becomes_replacement_characters() {
        let mut buffer = HeadAndTail::new(10);

        buffer.push(b"a\xff\x80b");

        assert_eq!(buffer.text(), "a\u{fffd}\u{fffd}b");
    }

    proptest! {
        #[test]
        fn the_beginning_and_the_end_are_those_of_all_that_was_written(
            pieces in prop::collection::vec("[a-z]{0,20}", 0..20),
            limit in 0_usize..60,
        ) {
            let mut buffer = HeadAndTail::new(limit);
            for piece in &pieces {
                buffer.push(piece.as_bytes());
            }

            let all = pieces.concat();
            let expected = match all.len().checked_sub(limit) {
                None | Some(0) => all,
                Some(cut) => {
                    let (head, tail) = (&all[..limit / 2], &all[limit / 2 + cut..]);
                    format!("{head}\n[... {cut} bytes left out ...]\n{tail}")
                }
            };
            prop_assert_eq!(buffer.text(), expected);
        }

        #[test]
        fn output_of_any_bytes_stays_within_the_limit(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..9),
            limit in 0_usize..60,
        ) {
            let mut buffer = HeadAndTail::new(limit);
            for piece in &pieces {
                buffer.push(piece);
            }

            let total = pieces.concat().len();
            prop_assert_eq!(buffer.left_out() as usize, total.saturating_sub(limit));
            prop_assert!(buffer.text().len() <= 3 * limit + 60);
        }
    }
}
