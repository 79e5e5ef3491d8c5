//! Incremental comparison of a path's last component with a name.

/// The possible states of the last component of a path so far. Several may hold at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameMatcher {
    /// The name to compare with; at most 15 bytes of lower-case ASCII, starting with a dot.
    name: &'static str,
    /// Bit `n`: the component is the first `n` letters of the name.
    beginnings: u16,
    /// The component is unknown.
    is_unknown: bool,
    /// The component is a prefix of the name followed by a set of letters; the rest is ignored.
    is_open: bool,
    /// The component is empty, after the name and slashes.
    is_closed: bool,
    /// Anything, with the name as an earlier component.
    is_above: bool,
}

const EMPTY: u16 = 1;

impl NameMatcher {
    /// Starts a path.
    pub(super) fn start(name: &'static str) -> Self {
        Self {
            name,
            beginnings: EMPTY,
            is_unknown: false,
            is_open: false,
            is_closed: false,
            is_above: false,
        }
    }

    /// Returns whether the last component may be the name.
    pub(super) fn is_name(self) -> bool {
        self.beginnings & self.full_match_bit() != 0 || self.is_open || self.is_closed
    }

    /// Returns whether the last component is unrelated to the name.
    fn is_something_else(self) -> bool {
        self.beginnings == 0 && !self.is_unknown && !self.is_open && !self.is_closed
    }

    /// Returns whether an earlier component may be the name.
    pub(super) fn is_above(self) -> bool {
        self.is_above
    }

    /// Combines two alternatives.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            name: self.name,
            beginnings: self.beginnings | other.beginnings,
            is_unknown: self.is_unknown || other.is_unknown,
            is_open: self.is_open || other.is_open,
            is_closed: self.is_closed || other.is_closed,
            is_above: self.is_above || other.is_above,
        }
    }

    /// Appends `text` with patterns at `globs`.
    pub(super) fn push_text(self, text: &str, globs: &[usize]) -> Self {
        let mut now = self;
        for (at, c) in text.char_indices() {
            // Only a slash starts a new component.
            if now.is_something_else() && !matches!(c, '/' | '\\') {
                continue;
            }
            now = if globs.contains(&at) {
                now.push_glob(c)
            } else {
                now.letter(c)
            };
        }
        now
    }

    fn letter(self, letter: char) -> Self {
        // A backslash is a separator for tools of other systems.
        if matches!(letter, '/' | '\\') {
            return Self {
                is_closed: self.is_name(),
                is_above: self.is_above || self.is_name(),
                ..Self::start(self.name)
            };
        }
        let from = if self.is_unknown {
            u16::MAX
        } else {
            self.beginnings
        };
        let letter = letter.to_ascii_lowercase();
        let mut beginnings = 0;
        for (at, next) in self.name.chars().enumerate() {
            if next == letter && from & (1 << at) != 0 {
                beginnings |= 1 << (at + 1);
            }
        }
        Self {
            beginnings,
            is_unknown: false,
            is_closed: false,
            ..self
        }
    }

    /// Appends `*`, `?` or `[` of the shell, none of which matches a leading dot.
    pub(super) fn push_glob(self, glob: char) -> Self {
        let started = self.beginnings & !EMPTY;
        let beginnings = match glob {
            '*' => self.and_longer(started),
            '?' => (started << 1) & (self.full_match_bit() | (self.full_match_bit() - 1)),
            _ => 0,
        };
        Self {
            beginnings,
            is_open: self.is_open || (glob == '[' && started != 0),
            is_closed: false,
            ..self
        }
    }

    /// Appends unknown text, which may be empty.
    pub(super) fn push_unknown(self) -> Self {
        Self {
            beginnings: self.and_longer(self.beginnings & !EMPTY),
            is_unknown: self.is_unknown || self.beginnings & EMPTY != 0,
            ..self
        }
    }

    /// Returns the bit of the whole name.
    fn full_match_bit(self) -> u16 {
        1 << self.name.len()
    }

    /// Returns these prefixes and all longer ones.
    fn and_longer(self, beginnings: u16) -> u16 {
        let up_to_whole = self.full_match_bit() | (self.full_match_bit() - 1);
        match beginnings {
            0 => 0,
            some => up_to_whole & !((1 << some.trailing_zeros()) - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> NameMatcher {
        let is_glob = |(at, c): (usize, char)| matches!(c, '*' | '?' | '[').then_some(at);
        let globs: Vec<usize> = text.char_indices().filter_map(is_glob).collect();
        // `$` is a placeholder for unknown text.
        let pieces = text.split('$').enumerate();
        let mut from = 0;
        pieces.fold(NameMatcher::start(".git"), |now, (number, piece)| {
            let now = if number == 0 { now } else { now.push_unknown() };
            let here: Vec<usize> = globs.iter().filter_map(|at| at.checked_sub(from)).collect();
            from += piece.len() + 1;
            now.push_text(piece, &here)
        })
    }

    #[test]
    fn the_last_component_may_be_the_name() {
        for text in [
            ".git",
            "x/.GIT",
            "/x/.git//",
            ".gi[t]",
            ".gi?",
            ".g*",
            ".*",
            ".??*",
            ".[a-z]*",
            "$.git",
            "$/.git",
            ".g$",
            ".git/$",
            "$git",
            "x\\.git",
        ] {
            assert!(end(text).is_name(), "{text}");
        }
    }

    #[test]
    fn other_names_and_what_is_not_known_are_not_the_name() {
        for text in [
            "",
            ".",
            "*",
            "*.*",
            "[.]git",
            "?git",
            ".e*",
            ".env$",
            ".gitignore",
            ".gitlab*",
            ".git/x",
            "$",
            "x/$",
            "x$",
            "$/x",
            ".git/$/x",
            "x.git",
            "a$.git",
            "template/.",
        ] {
            assert!(!end(text).is_name(), "{text}");
        }
    }

    #[test]
    fn a_component_in_front_may_be_the_name() {
        for text in [".git/x", "x/.gi[t]/y", "$/.git/x"] {
            assert!(end(text).is_above(), "{text}");
        }
        assert!(!end("x/.gitignore/y").is_above());
    }
}
