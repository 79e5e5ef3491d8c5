//! Detection of invisible and deceptive Unicode characters.

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_format_character_and_separator_of_lines_is_unseen(
            text in "[\\p{Cf}\\p{Zl}\\p{Zp}]",
        ) {
            prop_assert!(text.chars().all(is_invisible), "{text:?}");
        }

        #[test]
        fn nothing_that_has_a_shape_is(text in "[\\p{L}\\p{N}\\p{P}\\p{S}--\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}]") {
            prop_assert!(!text.chars().any(is_invisible), "{text:?}");
        }
    }
}
