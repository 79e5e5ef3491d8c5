//! The many spellings of one file name.

/// Returns the components of `path`, with `\` as a separator too.
pub(super) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty())
}

/// Returns what file systems may see in `name`.
///
/// Some compare without case, ignore characters that nobody sees, drop dots and
/// blanks at the end, or read a `:` as the start of a stream.
pub(super) fn folded(name: &str) -> String {
    let visible = visible(name);
    let name = visible.split(':').next().unwrap_or_default();
    name.trim_end_matches(|c: char| c == '.' || c.is_whitespace())
        .to_lowercase()
}

/// Tells whether a file system may see `name`, which is lower case with a dot, in `component`.
pub(super) fn spells(component: &str, name: &str) -> bool {
    let folded = folded(component);
    folded == name || is_short_name(&folded, name)
}

// On some volumes `.autonoe` is also AUTONO~1.
fn is_short_name(folded: &str, name: &str) -> bool {
    let Some((stem, number)) = folded.split_once('~') else {
        return false;
    };
    let long = name.trim_start_matches('.');
    !number.is_empty()
        && number.bytes().all(|digit| digit.is_ascii_digit())
        && (1..=6).contains(&stem.len())
        && long.starts_with(stem)
        && (stem.len() == 6 || stem.len() == long.len())
}

/// Returns `text` without the characters that nobody sees.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_ignorable(*c)).collect()
}

/// Tells whether `c` is a control character other than blanks, or ignorable by default in Unicode.
fn is_ignorable(c: char) -> bool {
    const IGNORABLE: [(char, char); 17] = [
        ('\u{ad}', '\u{ad}'),
        ('\u{34f}', '\u{34f}'),
        ('\u{61c}', '\u{61c}'),
        ('\u{115f}', '\u{1160}'),
        ('\u{17b4}', '\u{17b5}'),
        ('\u{180b}', '\u{180f}'),
        ('\u{200b}', '\u{200f}'),
        ('\u{202a}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{3164}', '\u{3164}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{feff}', '\u{feff}'),
        ('\u{ffa0}', '\u{ffa0}'),
        ('\u{fff0}', '\u{fff8}'),
        ('\u{1bca0}', '\u{1bca3}'),
        ('\u{1d173}', '\u{1d17a}'),
        ('\u{e0000}', '\u{e0fff}'),
    ];
    let seen_as_blank = matches!(c, '\t' | '\n' | '\r');
    (c.is_control() && !seen_as_blank)
        || IGNORABLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_in_every_spelling() {
        for spelling in [
            ".autonoe",
            ".AUTONOE",
            ".Autonoe",
            ".autonoe.",
            ".autonoe. .",
            ".autonoe ",
            ".autonoe\u{a0}",
            ".auto\u{200b}noe",
            "\u{feff}.autonoe",
            ".autonoe\u{0}",
            ".auto\u{ad}noe",
            ".autonoe:x",
            ".autonoe::$INDEX_ALLOCATION",
            "AUTONO~1",
            "autono~12",
        ] {
            assert!(spells(spelling, ".autonoe"), "{spelling:?}");
        }
    }

    #[test]
    fn other_names_are_other_names() {
        for other in [
            ".autonoe-note.md",
            "autonoe",
            ".autonoe2",
            "x.autonoe",
            "autono~x",
            "auto~1",
            "",
            ".",
        ] {
            assert!(!spells(other, ".autonoe"), "{other:?}");
        }
        assert!(spells("GIT~1", ".git"));
        assert!(!spells(".gitignore", ".git"));
    }
}
