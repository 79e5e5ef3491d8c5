//! Equivalent spellings of a file name on different file systems.

use crate::gate::lexical_path::invisible_chars::strip_invisible;

/// Returns the components of `path`, with `\` as a separator too.
pub(super) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty())
}

/// Returns a canonical form of `name`, equal for names that a file system may treat as the same.
///
/// Some file systems ignore case, ignore invisible characters, drop dots and blanks at the end, or
/// read a `:` as the start of a stream. Some tools trim blanks at the start.
pub(super) fn fold_name(name: &str) -> String {
    let visible = strip_invisible(name);
    let name = visible.split(':').next().unwrap_or_default();
    name.trim_end_matches(|c: char| c == '.' || c.is_whitespace())
        .trim_start()
        .to_lowercase()
}

/// Returns whether a file system may treat `component` as `name`, which must be lower case and
/// start with a dot.
pub(super) fn is_spelling_of(component: &str, name: &str) -> bool {
    let folded = fold_name(component);
    folded == name || is_short_name(&folded, name)
}

// On some volumes, AUTONO~1 is an alias of `.autonoe`.
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
    fn every_spelling_of_a_name_is_recognised() {
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
            assert!(is_spelling_of(spelling, ".autonoe"), "{spelling:?}");
        }
    }

    #[test]
    fn other_names_do_not_match() {
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
            assert!(!is_spelling_of(other, ".autonoe"), "{other:?}");
        }
        assert!(is_spelling_of("GIT~1", ".git"));
        assert!(!is_spelling_of(".gitignore", ".git"));
    }
}
