//! The many spellings of one file name.

use crate::port::lexical_path::visible::visible;

/// Returns the components of `path`, with `\` as a separator too.
pub(super) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty())
}

/// Returns what file systems may see in `name`.
///
/// Some compare without case, ignore characters that nobody sees, drop dots and
/// blanks at the end, or read a `:` as the start of a stream. Some tools trim
/// blanks at the start.
pub(super) fn folded(name: &str) -> String {
    let visible = visible(name);
    let name = visible.split(':').next().unwrap_or_default();
    name.trim_end_matches(|c: char| c == '.' || c.is_whitespace())
        .trim_start()
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
            " .autonoe",
            "\t.autonoe",
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
