//! The state of Autonoe, wherever it is mentioned.

use crate::syntax::Span;
use crate::{Denial, Rule};

const NAME: &[u8] = b".autonoe";

/// Tells whether `text` mentions `.autonoe` itself, not `.autonoe-note.md` or a longer name.
pub(crate) fn is_mentioned_in(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(dot) = bytes[from..].iter().position(|byte| *byte == b'.') {
        let at = from + dot;
        let end = at + NAME.len();
        if bytes
            .get(at..end)
            .is_some_and(|name| name.eq_ignore_ascii_case(NAME))
        {
            let next = text.get(end..).and_then(|rest| rest.chars().next());
            let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if !next.is_some_and(goes_on) {
                return true;
            }
        }
        from = at + 1;
    }
    false
}

/// Tells whether the command `name` only reads, so that it may mention the state.
pub(crate) fn is_reader(name: &str) -> bool {
    matches!(
        name,
        "ls" | "cat"
            | "head"
            | "tail"
            | "wc"
            | "find"
            | "grep"
            | "tree"
            | "sort"
            | "diff"
            | "uniq"
            | "cut"
            | "tr"
            | "tac"
            | "jq"
            | "echo"
            | "printf"
            | "test"
            | "["
            | "cd"
            | "source"
            | "."
            | "which"
            // It has rules of its own.
            | "git"
    )
}

pub(crate) fn deny(name: &str, span: Span) -> Denial {
    let reason = format!("'{name}' is given .autonoe");
    Denial::by(Rule::R31, span, reason).instead("use the deliverable tools for .autonoe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_and_longer_names_are_something_else() {
        for text in [
            ".autonoe",
            "x/.AUTONOE/y",
            "('.autonoe')",
            "..autonoe",
            ".autonoe.",
            "a.b/.c/.autonoe",
            "..x...autonoe/.y",
        ] {
            assert!(is_mentioned_in(text), "{text}");
        }
        for text in [
            ".autonoe-note.md",
            ".autonoes",
            "autonoe",
            ".auto",
            ".autonoe_x",
        ] {
            assert!(!is_mentioned_in(text), "{text}");
        }
    }
}
