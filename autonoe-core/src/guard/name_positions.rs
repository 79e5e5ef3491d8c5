//! How far a component of a path could have come in spelling `.autonoe`.

const NAME: &[u8] = b".autonoe";

/// The positions in the name that could have been reached, as bits: bit 8 is behind its last letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Positions {
    /// Reached by an expansion that can be anything, which alone says nothing.
    guessed: u16,
    /// Reached from there by one character of the name, which can be chance.
    hinted: u16,
    /// Reached from the start of a component by its dot and quoted wildcards.
    dotted: u16,
    /// Reached with a letter of the name, with two behind an expansion, or with its dot and an unquoted wildcard.
    meant: u16,
}

impl Positions {
    const END: u16 = 1 << NAME.len();
    const ALL: u16 = (Self::END << 1) - 1;

    /// No component so far can become the name.
    pub(super) const NONE: Self = Self {
        guessed: 0,
        hinted: 0,
        dotted: 0,
        meant: 0,
    };
    /// A component starts.
    pub(super) const START: Self = Self {
        dotted: 1,
        ..Self::NONE
    };
    /// An expansion ends, which can have been anything.
    pub(super) const ANYWHERE: Self = Self {
        guessed: Self::ALL,
        ..Self::NONE
    };

    /// Tells whether the component can be the name, with something that says so.
    pub(super) fn is_whole_name(self) -> bool {
        self.meant & Self::END != 0
    }

    /// Returns the positions of both.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            guessed: self.guessed | other.guessed,
            hinted: self.hinted | other.hinted,
            dotted: self.dotted | other.dotted,
            meant: self.meant | other.meant,
        }
    }

    /// Returns what is reached by `c`.
    pub(super) fn literal(self, c: char) -> Self {
        let c = c.to_ascii_lowercase();
        let same = NAME
            .iter()
            .enumerate()
            .filter(|(_, own)| char::from(**own) == c);
        let here = same.fold(0, |bits, (at, _)| bits | 1 << at);
        let step = |bits: u16| (bits & here) << 1;
        if c == '.' {
            // Dots behind the name are dropped by some file systems.
            let stay = |bits: u16| bits & Self::END;
            Self {
                guessed: stay(self.guessed),
                hinted: step(self.guessed) | stay(self.hinted),
                dotted: step(self.dotted) | stay(self.dotted),
                meant: stay(self.meant),
            }
        } else {
            Self {
                hinted: step(self.guessed),
                meant: step(self.hinted | self.dotted | self.meant),
                ..Self::NONE
            }
        }
    }

    /// Returns what is reached by any one character.
    pub(super) fn any_character(self, quoted: bool) -> Self {
        self.wildcard(quoted, |bits| (bits << 1) & Self::ALL)
    }

    /// Returns what is reached by any text, also none.
    pub(super) fn any_text(self, quoted: bool) -> Self {
        self.wildcard(quoted, |bits| match bits {
            0 => 0,
            bits => Self::ALL & !((1 << bits.trailing_zeros()) - 1),
        })
    }

    fn wildcard(self, quoted: bool, step: impl Fn(u16) -> u16) -> Self {
        // A wildcard never stands for the dot that a name starts with.
        let dotted = step(self.dotted & !1);
        let hinted = step(self.hinted);
        let (guessed, meant) = (step(self.guessed & !1), step(self.meant));
        let (dotted, meant) = if quoted {
            (dotted, meant)
        } else {
            (0, meant | dotted)
        };
        Self {
            guessed,
            hinted,
            dotted,
            meant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_wildcard_does_not_stand_for_the_dot() {
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
    fn an_expansion_alone_says_nothing() {
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
