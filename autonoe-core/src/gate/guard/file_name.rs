//! Spellings of a file name on different file systems, and of the name `.autonoe`.

use std::borrow::Cow;

use crate::gate::lexical_path::strip_invisible;

/// Returns the components of `path`, with `\` as a separator too.
pub(super) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty())
}

/// Returns a canonical form of `name`, equal for names that a file system may treat as the same.
///
/// Some file systems ignore case, ignore invisible characters, drop dots and blanks at the end, or
/// read a `:` as the start of a stream. Some tools trim blanks at the start.
pub(super) fn fold_name(name: &str) -> Cow<'_, str> {
    let is_folded =
        |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase() && byte != b':';
    if name.bytes().all(is_folded) && !name.ends_with('.') {
        return name.into();
    }
    let visible = strip_invisible(name);
    let name = visible.split(':').next().unwrap_or_default();
    name.trim_end_matches(|c: char| c == '.' || c.is_whitespace())
        .trim_start()
        .to_lowercase()
        .into()
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

const NAME: &[u8] = b".autonoe";

/// Reachable positions in the name, as bits. Bit 8 is the position after the last letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Positions {
    /// Reached through an arbitrary expansion, which alone is no evidence.
    guessed: u16,
    /// Reached from there through one character of the name, which can be a coincidence.
    hinted: u16,
    /// Reached from the start of a component through its dot and quoted wildcards.
    dotted: u16,
    /// Reached with evidence: with a letter of the name, with two letters after an expansion, or
    /// with the dot and an unquoted wildcard.
    evident: u16,
}

impl Positions {
    const END: u16 = 1 << NAME.len();
    const ALL: u16 = (Self::END << 1) - 1;

    /// The component cannot become the name.
    pub(super) const NONE: Self = Self {
        guessed: 0,
        hinted: 0,
        dotted: 0,
        evident: 0,
    };
    /// Start of a component.
    pub(super) const START: Self = Self {
        dotted: 1,
        ..Self::NONE
    };
    /// End of an expansion with an arbitrary value.
    pub(super) const ANYWHERE: Self = Self {
        guessed: Self::ALL,
        ..Self::NONE
    };

    /// Returns whether the component can be the complete name, with sufficient evidence.
    pub(super) fn is_whole_name(self) -> bool {
        self.evident & Self::END != 0
    }

    /// Returns the union of both sets of positions.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            guessed: self.guessed | other.guessed,
            hinted: self.hinted | other.hinted,
            dotted: self.dotted | other.dotted,
            evident: self.evident | other.evident,
        }
    }

    /// Returns the positions reachable through `c`.
    pub(super) fn literal(self, c: char) -> Self {
        let c = c.to_ascii_lowercase();
        let same = NAME
            .iter()
            .enumerate()
            .filter(|(_, own)| char::from(**own) == c);
        let here = same.fold(0, |bits, (at, _)| bits | 1 << at);
        let step = |bits: u16| (bits & here) << 1;
        if c == '.' {
            // Some file systems drop dots after the name.
            let stay = |bits: u16| bits & Self::END;
            Self {
                guessed: stay(self.guessed),
                hinted: step(self.guessed) | stay(self.hinted),
                dotted: step(self.dotted) | stay(self.dotted),
                evident: stay(self.evident),
            }
        } else {
            Self {
                hinted: step(self.guessed),
                evident: step(self.hinted | self.dotted | self.evident),
                ..Self::NONE
            }
        }
    }

    /// Returns the positions reachable through any single character.
    pub(super) fn any_character(self, quoted: bool) -> Self {
        self.wildcard(quoted, |bits| (bits << 1) & Self::ALL)
    }

    /// Returns the positions reachable through any text, including the empty one.
    pub(super) fn any_text(self, quoted: bool) -> Self {
        self.wildcard(quoted, |bits| match bits {
            0 => 0,
            bits => Self::ALL & !((1 << bits.trailing_zeros()) - 1),
        })
    }

    fn wildcard(self, quoted: bool, step: impl Fn(u16) -> u16) -> Self {
        // A wildcard never matches the dot at the start of a name.
        let dotted = step(self.dotted & !1);
        let hinted = step(self.hinted);
        let (guessed, evident) = (step(self.guessed & !1), step(self.evident));
        let (dotted, evident) = if quoted {
            (dotted, evident)
        } else {
            (0, evident | dotted)
        };
        Self {
            guessed,
            hinted,
            dotted,
            evident,
        }
    }
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

    fn spelled(text: &str) -> Positions {
        text.chars().fold(Positions::START, Positions::literal)
    }

    #[test]
    fn only_the_whole_name_is_the_name() {
        assert!(spelled(".autonoe").is_whole_name());
        assert!(spelled(".AUTONOE").is_whole_name());
        assert!(!spelled(".autono").is_whole_name());
        assert!(!spelled(".autonoes").is_whole_name());
        assert!(!spelled("autonoe").is_whole_name());
        assert!(spelled(".autonoe.").is_whole_name());
        assert!(!spelled(".autonoe.x").is_whole_name());
    }

    #[test]
    fn a_quoted_wildcard_needs_a_letter_beside_it() {
        assert!(spelled(".").any_text(false).is_whole_name());
        assert!(!spelled(".").any_text(true).is_whole_name());
        assert!(spelled(".a").any_text(true).is_whole_name());
    }

    #[test]
    fn a_wildcard_does_not_match_the_dot() {
        assert!(
            !Positions::START
                .any_text(false)
                .literal('e')
                .is_whole_name()
        );
        assert!(
            !Positions::START
                .any_character(false)
                .literal('a')
                .any_text(false)
                .is_whole_name()
        );
    }

    #[test]
    fn an_expansion_alone_is_no_evidence() {
        assert!(!Positions::ANYWHERE.is_whole_name());
        assert!(!Positions::ANYWHERE.any_text(false).is_whole_name());
        assert!(!Positions::ANYWHERE.literal('e').is_whole_name());
        assert!(
            Positions::ANYWHERE
                .literal('o')
                .literal('e')
                .is_whole_name()
        );
    }
}
