//! What is said about a task below it.

use super::outline::{Line, nearest};

/// What can be said about a task.
pub(super) const KEYS: [&str; 8] = [
    "goal", "context", "depends", "timeout", "success", "cwd", "cli", "model",
];

/// A line below a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attribute<'a> {
    /// Something that is known.
    Known { key: &'static str, value: &'a str },
    /// Something that looks as if it should be.
    Unknown {
        key: &'a str,
        meant: Option<&'static str>,
    },
    /// More of what is to be done.
    Text(&'a str),
}

impl<'a> Attribute<'a> {
    pub(super) fn of(line: &Line<'a>) -> Self {
        let text = line.item().unwrap_or_else(|| line.text.trim());
        if line.is_code {
            return Self::Text(line.text);
        }
        let Some((key, value)) = text.split_once(':') else {
            return Self::Text(text);
        };
        let (key, value) = (key.trim(), value.trim());
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        // What follows a word and a colon at once is an address or a path, not a value.
        if key.is_empty() || !key.chars().all(is_word) || value.starts_with("//") {
            return Self::Text(text);
        }
        match KEYS.iter().find(|known| known.eq_ignore_ascii_case(key)) {
            Some(key) => Self::Known { key, value },
            None => Self::Unknown {
                key,
                meant: nearest(key, KEYS),
            },
        }
    }
}
