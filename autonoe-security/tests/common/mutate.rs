//! Mutations of command texts.

mod tokens;

use self::tokens::{SEEDS, TOKENS};

/// Generates texts that are almost Bash, deterministically by seed.
pub(crate) struct Mutator {
    state: u64,
    seeds: Vec<String>,
}

impl Mutator {
    pub(crate) fn new(seed: u64, texts: Vec<String>) -> Self {
        let short = texts.into_iter().filter(|text| text.len() < 600);
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            seeds: short
                .chain(SEEDS.iter().map(|text| text.to_string()))
                .collect(),
        }
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).expect("it fits") % limit.max(1)
    }

    /// Returns the next text.
    pub(crate) fn text(&mut self) -> String {
        let mut text = match self.below(10) {
            0 => self.tokens(),
            1 => {
                let (mut text, other) = (self.seed(), self.seed());
                let at = self.char_boundary(&text);
                text.insert_str(at, &other);
                text
            }
            2 => {
                let joint = ["; ", " && ", "\n", " | ", " || "][self.below(5)];
                format!("{}{joint}{}", self.seed(), self.seed())
            }
            _ => self.seed(),
        };
        for _ in 0..1 + self.below(4) {
            self.change(&mut text);
        }
        text.replace('\0', "")
    }

    fn seed(&mut self) -> String {
        let number = self.below(self.seeds.len());
        self.seeds[number].clone()
    }

    fn tokens(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.below(14) {
            text += self.token();
            if self.below(3) == 0 {
                text.push(' ');
            }
        }
        text
    }

    fn token(&mut self) -> &'static str {
        TOKENS[self.below(TOKENS.len())]
    }

    fn change(&mut self, text: &mut String) {
        let (a, b) = (self.char_boundary(text), self.char_boundary(text));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 8));
        let end = (start..=end).rev().find(|at| text.is_char_boundary(*at));
        let part = start..end.unwrap_or(start);
        match self.below(5) {
            0 | 1 => text.insert_str(start, self.token()),
            2 => text.replace_range(part, ""),
            3 => {
                let copy = text[part].to_owned();
                let at = self.char_boundary(text);
                text.insert_str(at, &copy);
            }
            _ => {
                let moved = text[part.clone()].to_owned();
                text.replace_range(part, "");
                let at = self.char_boundary(text);
                text.insert_str(at, &moved);
            }
        }
    }

    /// Returns a character boundary.
    fn char_boundary(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0)
    }
}

/// Returns a number from the environment, which longer runs set.
pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(otherwise, |text| text.parse().expect("a number"))
}
