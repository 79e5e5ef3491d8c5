//! Positions in which `~` is a home directory.

use super::Parser;
use super::bytes::{ACTIVE, BREAK, NAME, NAME_START, is};
use super::word::WordContext;

impl Parser<'_> {
    /// Returns the end of the name after the `~` at `at`, if Bash replaces it by a directory.
    ///
    /// The word starts at `start`, its value at `value` if it is an assignment or looks like one,
    /// and the plain text before `at` at `run`.
    pub(super) fn tilde(
        &self,
        place: WordContext,
        (start, value, run): (usize, Option<usize>, usize),
        at: usize,
    ) -> Option<usize> {
        let in_value = value.filter(|value| *value <= at);
        let begins = at == start || in_value == Some(at);
        let continues = in_value.is_some()
            && run < at
            && match self.byte(at - 1) {
                b':' => true,
                // `a=~=~`
                b'=' => place == WordContext::Argument && run + 1 == at,
                _ => false,
            };
        if !begins && !continues {
            return None;
        }
        let mut end = at + 1;
        while !is(self.byte(end), ACTIVE) && self.byte(end) != b'/' {
            match (self.byte(end), self.byte(end + 1)) {
                (b':', _) if in_value.is_some() => return Some(end),
                (b':', _) => return self.is_free_of_quotes(end).then_some(end),
                (b'=', b'~') if place == WordContext::Value => end += 1,
                (b'=', b'~') if in_value.is_some() => return Some(end),
                (b'=', b'~') => return self.is_free_of_quotes(end).then_some(end),
                _ => end += 1,
            }
        }
        let next = self.byte(end);
        let ends = next == b'/' || is(next, BREAK) && !self.is_process_substitution(end);
        (ends || self.is_continuation(end)).then_some(end)
    }

    /// Returns whether there is no quote before the next slash or the end of the word.
    fn is_free_of_quotes(&self, from: usize) -> bool {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let next = rest
            .iter()
            .find(|byte| is(**byte, BREAK) || b"/'\"\\".contains(byte));
        !matches!(next, Some(b'\'' | b'"' | b'\\'))
    }

    /// Returns the start of the value in a word that is an assignment or looks like one.
    pub(super) fn value_of_word(&self, place: WordContext, start: usize) -> Option<usize> {
        match place {
            WordContext::Value => return Some(start),
            WordContext::Argument => {}
            _ => return None,
        }
        if !is(self.byte(start), NAME_START) {
            return None;
        }
        let mut at = self.run(start, NAME);
        if self.byte(at) == b'[' {
            at += 1;
            while self.byte(at) != b']' {
                if is(self.byte(at), BREAK) {
                    return None;
                }
                at += 1;
            }
            at += 1;
        }
        if self.byte(at) == b'+' {
            at += 1;
        }
        (self.byte(at) == b'=').then_some(at + 1)
    }
}
