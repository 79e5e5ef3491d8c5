//! Parses sequences, `{1..9}` and `{a..z}`.

use crate::syntax::Brace;

/// The contents of braces with `..`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    Brace(Brace<'static>),
    /// Not a sequence: plain characters.
    Text,
    /// A sequence that depends on the size of numbers, or produces characters that are parsed
    /// again.
    Unclear,
}

/// Maximum number of digits of a number that fits.
const MAX_DIGITS: usize = 18;

/// Reads `first..last` or `first..last..step`.
pub(super) fn sequence(text: &str) -> Sequence {
    let fields: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match fields[..] {
        [first, last] => (first, last, None),
        [first, last, step] => (first, last, Some(step)),
        _ => return Sequence::Text,
    };
    if fields.iter().any(|field| digits(field) > Some(MAX_DIGITS)) {
        return Sequence::Unclear;
    }
    let is_number = |field: &str| digits(field).is_some();
    let letters = letter(first).zip(letter(last));
    let fits = letters.is_some() || is_number(first) && is_number(last);
    if !fits || !step.is_none_or(is_number) {
        return Sequence::Text;
    }
    // A back-quote and other characters that Bash parses again are between `Z` and `a`.
    if letters.is_some_and(|(a, b)| a.is_ascii_lowercase() != b.is_ascii_lowercase()) {
        return Sequence::Unclear;
    }
    Sequence::Brace(Brace::Sequence {
        first: first.to_owned().into(),
        last: last.to_owned().into(),
        step: step.map(|step| step.to_owned().into()),
    })
}

/// Returns the number of digits of a number; `None` if it is not a number.
fn digits(text: &str) -> Option<usize> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(digits.len())
}

fn letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_letters_make_a_sequence() {
        for text in [
            "1..3", "01..10", "-1..+1", "1..9..2", "a..e", "Z..A", "a..e..-2",
        ] {
            assert!(matches!(sequence(text), Sequence::Brace(_)), "{text}");
        }
    }

    #[test]
    fn other_text_makes_none() {
        for text in [
            "1..a",
            "a..",
            "..a",
            "aa..b",
            "1...3",
            "1..3..",
            "1..3..x",
            "1..2..3..4",
        ] {
            assert_eq!(sequence(text), Sequence::Text, "{text}");
        }
    }

    #[test]
    fn characters_between_the_alphabets_are_refused() {
        for text in ["Z..a", "A..z", "a..Z", "1..9999999999999999999"] {
            assert_eq!(sequence(text), Sequence::Unclear, "{text}");
        }
    }
}
