//! Texts of others, cut to what can be kept and sent.

/// How many bytes of a text of others are kept. What an agent says of an error has no limit of its
/// own, and goes into journals and over wires that have one.
pub(crate) const LONGEST_TEXT: usize = 16 * 1024;

/// How many bytes the words about what was left out take at most.
const WORDS: usize = 64;

/// Returns `text` as it is if it has at most [`LONGEST_TEXT`] bytes, else its beginning and its end,
/// with a word in between about how many bytes were left out.
///
/// What comes back has at most that many bytes, so that to cut it again changes nothing.
pub(crate) fn excerpt(text: String) -> String {
    excerpt_to(text, LONGEST_TEXT)
}

/// Does the same with another limit, which leaves room for the words.
pub fn excerpt_to(text: String, longest: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    let each = (longest - WORDS) / 2;
    let beginning = &text[..text.floor_char_boundary(each)];
    let end = &text[text.ceil_char_boundary(text.len() - each)..];
    let left_out = text.len() - beginning.len() - end.len();
    format!("{beginning} [.. {left_out} bytes were left out ..] {end}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes texts around the limit, of characters of one to four bytes.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec!["a", "ä", "€", "🦀", "\n", "wörd "]);
        let lengths = prop_oneof![0..40_usize, 2_000..30_000_usize];
        (prop::collection::vec(piece, 1..8), lengths)
            .prop_map(|(pieces, times)| pieces.concat().repeat(times / pieces.len()))
    }

    /// Takes an excerpt apart: its beginning, how many bytes are missing, its end.
    fn parts(excerpt: &str) -> (&str, usize, &str) {
        let (beginning, rest) = excerpt.split_once(" [.. ").expect("a beginning");
        let (missing, end) = rest
            .split_once(" bytes were left out ..] ")
            .expect("an end");
        (beginning, missing.parse().expect("a number"), end)
    }

    proptest! {
        #[test]
        fn what_is_cut_is_short_and_tells_what_is_missing(text in texts()) {
            let cut = excerpt(text.clone());

            prop_assert!(cut.len() <= LONGEST_TEXT);
            prop_assert_eq!(&excerpt(cut.clone()), &cut);
            if text.len() <= LONGEST_TEXT {
                prop_assert_eq!(cut, text);
            } else {
                let (beginning, missing, end) = parts(&cut);
                prop_assert!(text.starts_with(beginning) && text.ends_with(end));
                prop_assert_eq!(beginning.len() + missing + end.len(), text.len());
                // No more is left out than has to be: a character has at most four bytes.
                prop_assert!(cut.len() > LONGEST_TEXT - WORDS);
            }
        }
    }

    #[test]
    fn the_words_fit_also_for_the_longest_text_there_can_be() {
        let words = format!(" [.. {} bytes were left out ..] ", usize::MAX);

        assert!(words.len() <= WORDS, "{}", words.len());
    }
}
