//! Text helpers: excerpts, content hashes, invisible characters.

pub(crate) mod content_hash;

/// Maximum number of bytes kept of an external text. Error messages of agents are unbounded, but
/// the journals and network protocols that carry them are not.
pub(crate) const MAX_TEXT_LEN: usize = 16 * 1024;

/// Upper bound, in bytes, of the notice about omitted bytes.
const NOTICE_LEN: usize = 64;

/// Returns `text` unchanged if it has at most [`MAX_TEXT_LEN`] bytes. Otherwise returns its
/// beginning and its end, separated by a notice with the number of omitted bytes.
///
/// The result has at most [`MAX_TEXT_LEN`] bytes, so applying the function again changes nothing.
pub(crate) fn excerpt(text: String) -> String {
    excerpt_to(text, MAX_TEXT_LEN)
}

/// Like `excerpt`, with a limit of `longest` bytes, which must leave room for the notice.
pub fn excerpt_to(text: String, longest: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    let each = (longest - NOTICE_LEN) / 2;
    let beginning = &text[..text.floor_char_boundary(each)];
    let end = &text[text.ceil_char_boundary(text.len() - each)..];
    let left_out = text.len() - beginning.len() - end.len();
    format!("{beginning} [.. {left_out} bytes were left out ..] {end}")
}

/// Returns whether a character renders as nothing, or only changes the rendering of its neighbours.
///
/// These are the Unicode format characters (category Cf: marks and overrides of the writing
/// direction, joiners, tags, soft hyphens and the like), line and paragraph separators, and the
/// letters and marks that are blank by definition. Variation selectors are not included, because
/// emoji often contain one.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}'
    )
}

/// Returns whether a character has no glyph of its own and changes how surrounding text is read.
pub fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Replaces control characters and deceptive characters, so that a terminal or a reader shows the
/// text as it is. Line breaks stay.
pub fn sanitize(text: &str) -> String {
    let replace = |character: char| match character {
        '\n' => '\n',
        character if character.is_control() => ' ',
        character if is_deceptive(character) => '\u{fffd}',
        character => character,
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates texts around the limit, with characters of one to four bytes.
    fn texts() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec!["a", "ä", "€", "🦀", "\n", "wörd "]);
        let lengths = prop_oneof![0..40_usize, 2_000..30_000_usize];
        (prop::collection::vec(piece, 1..8), lengths)
            .prop_map(|(pieces, times)| pieces.concat().repeat(times / pieces.len()))
    }

    /// Splits an excerpt into its beginning, the number of omitted bytes, and its end.
    fn parts(excerpt: &str) -> (&str, usize, &str) {
        let (beginning, rest) = excerpt.split_once(" [.. ").expect("a beginning");
        let (missing, end) = rest
            .split_once(" bytes were left out ..] ")
            .expect("an end");
        (beginning, missing.parse().expect("a number"), end)
    }

    proptest! {
        #[test]
        fn excerpts_are_bounded_and_report_the_omitted_bytes(text in texts()) {
            let cut = excerpt(text.clone());

            prop_assert!(cut.len() <= MAX_TEXT_LEN);
            prop_assert_eq!(&excerpt(cut.clone()), &cut);
            if text.len() <= MAX_TEXT_LEN {
                prop_assert_eq!(cut, text);
            } else {
                let (beginning, missing, end) = parts(&cut);
                prop_assert!(text.starts_with(beginning) && text.ends_with(end));
                prop_assert_eq!(beginning.len() + missing + end.len(), text.len());
                // No more than necessary is omitted: a character has at most four bytes.
                prop_assert!(cut.len() > MAX_TEXT_LEN - NOTICE_LEN);
            }
        }
    }

    #[test]
    fn control_and_deceptive_characters_are_replaced() {
        assert_eq!(sanitize("a\u{1b}[2Jb\r\nc\u{9b}d"), "a [2Jb \nc d");
        assert_eq!(
            sanitize("DL\u{202e}3\u{200b}\u{61c}"),
            "DL\u{fffd}3\u{fffd}\u{fffd}"
        );
        assert_eq!(sanitize("日本 ü 👩\u{200d}💻"), "日本 ü 👩\u{200d}💻");
    }

    #[test]
    fn the_notice_fits_even_for_the_longest_possible_text() {
        let notice = format!(" [.. {} bytes were left out ..] ", usize::MAX);

        assert!(notice.len() <= NOTICE_LEN, "{}", notice.len());
    }

    proptest! {
        #[test]
        fn every_format_character_and_separator_of_lines_is_unseen(
            text in "[\\p{Cf}\\p{Zl}\\p{Zp}]",
        ) {
            prop_assert!(text.chars().all(is_invisible), "{text:?}");
        }

        #[test]
        fn visible_characters_are_not_invisible(text in "[\\p{L}\\p{N}\\p{P}\\p{S}--\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}]") {
            prop_assert!(!text.chars().any(is_invisible), "{text:?}");
        }
    }
}
