//! Text patterns with `*` and `?`.

/// Pattern that must match a whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wildcard(Vec<Token>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    AnyText,
    AnyChar,
    Char(char),
}

/// A piece of a partially known text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Char(char),
    /// Any text, including the empty one.
    AnyText,
    /// Any text without blanks, including the empty one.
    AnyName,
}

impl Wildcard {
    /// Creates a pattern in which `*` matches any text, including the empty one.
    pub(super) fn with_star(text: &str) -> Self {
        Self(
            text.chars()
                .map(|c| {
                    if c == '*' {
                        Token::AnyText
                    } else {
                        Token::Char(c)
                    }
                })
                .collect(),
        )
    }

    /// Creates a pattern in which `*` matches any text and `?` matches any single character.
    pub(super) fn with_star_and_question(text: &str) -> Self {
        let token = |c| match c {
            '*' => Token::AnyText,
            '?' => Token::AnyChar,
            c => Token::Char(c),
        };
        Self(text.chars().map(token).collect())
    }

    /// Returns whether the pattern contains no wildcards.
    pub(super) fn is_literal(&self) -> bool {
        self.0.iter().all(|token| matches!(token, Token::Char(_)))
    }

    /// Returns whether the pattern matches the whole of `text`.
    ///
    /// Takes at most (pattern length × text length) steps. If the rest of a text matches after any
    /// star, it matches after the last star reached, so backtracking only retries that one.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.matches_by(text, |own, c| own == c)
    }

    /// Returns whether the pattern matches the whole of `text`, ignoring letter case.
    pub(super) fn matches_ignoring_case(&self, text: &str) -> bool {
        self.matches_by(text, |own, c| own.to_lowercase().eq(c.to_lowercase()))
    }

    /// Returns whether the pattern could match the whole of a partially known text.
    pub(super) fn could_match(&self, text: &[Piece]) -> bool {
        // Positions in the pattern that the text so far could have reached.
        let mut reached = vec![false; self.0.len() + 1];
        reached[0] = true;
        self.skip_stars(&mut reached);
        for piece in text {
            match piece {
                Piece::Char(c) => {
                    let mut next = vec![false; reached.len()];
                    for (at, token) in self.0.iter().enumerate() {
                        match token {
                            Token::AnyText => next[at] |= reached[at],
                            Token::AnyChar => next[at + 1] |= reached[at],
                            Token::Char(own) => next[at + 1] |= reached[at] && own == c,
                        }
                    }
                    reached = next;
                }
                Piece::AnyText | Piece::AnyName => {
                    for (at, token) in self.0.iter().enumerate() {
                        let is_blank = *token == Token::Char(' ');
                        reached[at + 1] |= reached[at] && !(is_blank && *piece == Piece::AnyName);
                    }
                }
            }
            self.skip_stars(&mut reached);
            if !reached.contains(&true) {
                return false;
            }
        }
        reached[self.0.len()]
    }

    fn skip_stars(&self, reached: &mut [bool]) {
        for (at, token) in self.0.iter().enumerate() {
            reached[at + 1] |= reached[at] && *token == Token::AnyText;
        }
    }

    fn matches_by(&self, text: &str, same: impl Fn(char, char) -> bool) -> bool {
        let text: Vec<char> = text.chars().collect();
        matches_all(
            &self.0,
            &text,
            |token| *token == Token::AnyText,
            |token, c| match token {
                Token::Char(own) => same(*own, *c),
                Token::AnyChar | Token::AnyText => true,
            },
        )
    }
}

/// Returns whether `pattern` matches all `items`. A star in the pattern matches any number of
/// items.
pub(super) fn matches_all<P, I>(
    pattern: &[P],
    items: &[I],
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &I) -> bool,
) -> bool {
    let (mut at, mut item) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while item < items.len() {
        match pattern.get(at) {
            Some(part) if is_star(part) => {
                last_star = Some((at, item));
                at += 1;
            }
            Some(part) if fits(part, &items[item]) => {
                at += 1;
                item += 1;
            }
            _ => {
                let Some((star, consumed)) = last_star else {
                    return false;
                };
                last_star = Some((star, consumed + 1));
                at = star + 1;
                item = consumed + 1;
            }
        }
    }
    pattern[at..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, text, fits) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abcbc", true),
            ("a*c", "abcb", false),
            ("a?c", "aéc", true),
            ("a?c", "ac", false),
            ("**a", "ba", true),
        ] {
            assert_eq!(
                Wildcard::with_star_and_question(pattern).matches(text),
                fits,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn a_question_mark_can_be_literal() {
        assert!(Wildcard::with_star("a?").matches("a?"));
        assert!(!Wildcard::with_star("a?").matches("ab"));
    }

    #[test]
    fn letter_case_can_be_ignored() {
        assert!(Wildcard::with_star("Ab*").matches_ignoring_case("aBC"));
        assert!(!Wildcard::with_star("Ab*").matches("aBC"));
    }

    #[test]
    fn a_hostile_pattern_is_handled_quickly() {
        let pattern = Wildcard::with_star(&format!("{}b", "a*".repeat(500)));

        assert!(!pattern.matches(&"a".repeat(20_000)));
    }

    #[test]
    fn a_partially_known_text_could_match() {
        // Here `?` is any text and `%` is any name.
        for (pattern, text, fits) in [
            ("git push *", "git push x", true),
            ("git push *", "git push", false),
            ("git push *", "git ? x", true),
            ("git push *", "git %", false),
            ("git push", "git %", true),
            ("git push", "git p%h", true),
            ("git push", "git l?", false),
            ("git push", "?", true),
            ("git push", "?h", true),
            ("git push", "?x", false),
            ("a*b", "a?", true),
            ("a*b", "?c", false),
            ("", "?", true),
            ("", "", true),
            ("a", "", false),
        ] {
            let pieces: Vec<Piece> = text
                .chars()
                .map(|c| match c {
                    '?' => Piece::AnyText,
                    '%' => Piece::AnyName,
                    c => Piece::Char(c),
                })
                .collect();

            let wildcard = Wildcard::with_star(pattern);
            assert_eq!(wildcard.could_match(&pieces), fits, "{pattern} {text}");
        }
    }
}
