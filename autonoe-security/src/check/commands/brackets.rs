//! Bracket expressions in regular expressions, as far as they determine where an expression ends.

/// The way an implementation of sed or awk reads a delimiter and a backslash in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// POSIX: a delimiter in brackets is a member, and so is a backslash.
    Literal,
    /// GNU awk: a delimiter in brackets is a member, and a backslash escapes the next character.
    Escaping,
    /// Old implementations: a delimiter ends the regular expression, even in brackets.
    Unaware,
}

impl Reading {
    pub(super) const ALL: [Self; 3] = [Self::Literal, Self::Escaping, Self::Unaware];
}

/// Tracks whether a bracket expression is open in a regular expression.
#[derive(Clone, Copy)]
pub(super) struct Brackets {
    reading: Reading,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// After `[`: a `^` negates, a `]` is a member.
    Start,
    /// After `[^`: a `]` is a member.
    Negated,
    Inside,
    /// After a nested `[`: a class may start.
    AfterOpen,
    /// In `[:alpha:]`, `[.x.]` or `[=x=]`.
    Class(char),
    /// After a character that may end a class.
    ClassEnd(char),
}

impl State {
    fn step(self, c: char) -> Self {
        match (self, c) {
            (Self::Closed, '[') => Self::Start,
            (Self::Closed, _) => Self::Closed,
            (Self::Start, '^') => Self::Negated,
            (Self::Start | Self::Negated | Self::Inside | Self::AfterOpen, '[') => Self::AfterOpen,
            (Self::Inside | Self::AfterOpen, ']') => Self::Closed,
            (Self::AfterOpen, ':' | '.' | '=') => Self::Class(c),
            (Self::Class(mark) | Self::ClassEnd(mark), c) if c == mark => Self::ClassEnd(mark),
            (Self::ClassEnd(_), ']') => Self::Inside,
            (Self::Class(mark) | Self::ClassEnd(mark), _) => Self::Class(mark),
            (Self::Start | Self::Negated | Self::Inside | Self::AfterOpen, _) => Self::Inside,
        }
    }
}

impl Brackets {
    pub(super) fn new(reading: Reading) -> Self {
        Self {
            reading,
            state: State::Closed,
        }
    }

    /// Adds a character that is not preceded by a backslash.
    pub(super) fn push(&mut self, c: char) {
        self.state = self.state.step(c);
    }

    /// Adds a backslash and the character after it.
    pub(super) fn push_escaped(&mut self, c: char) {
        self.state = match (self.state, self.reading) {
            (State::Closed, _) => State::Closed,
            (state, Reading::Literal) => state.step('\\').step(c),
            (_, Reading::Escaping | Reading::Unaware) => State::Inside,
        };
    }

    /// Returns whether a delimiter is a member of a bracket expression here.
    pub(super) fn hides_delimiter(self) -> bool {
        self.reading != Reading::Unaware && self.state != State::Closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(reading: Reading, text: &str) -> bool {
        let mut brackets = Brackets::new(reading);
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (c, chars.clone().next()) {
                ('\\', Some(escaped)) => {
                    chars.next();
                    brackets.push_escaped(escaped);
                }
                _ => brackets.push(c),
            }
        }
        brackets.hides_delimiter()
    }

    #[test]
    fn a_bracket_expression_ends_at_its_last_bracket() {
        for closed in [
            "",
            "a]",
            "[a]",
            "[^a]b",
            "[]a]",
            "[^]]",
            "[[:alpha:]]",
            "[[:alpha:][:digit:]_]",
            "[a[b]",
            "\\[a",
            "[\\/]",
            "[[.hyphen.]]",
            "[^\\]]",
        ] {
            for reading in Reading::ALL {
                assert!(!is_open(reading, closed), "{closed}");
            }
        }
        for open in [
            "[",
            "[^",
            "[]",
            "[^]",
            "[a",
            "[[:alpha:]",
            "[[:]",
            "a[b]c[",
            "[[=a=]",
        ] {
            assert!(is_open(Reading::Literal, open), "{open}");
            assert!(is_open(Reading::Escaping, open), "{open}");
            assert!(!is_open(Reading::Unaware, open), "{open}");
        }
    }

    #[test]
    fn a_backslash_in_brackets_has_two_meanings() {
        assert!(!is_open(Reading::Literal, "[\\]"));
        assert!(is_open(Reading::Escaping, "[\\]"));
    }
}
