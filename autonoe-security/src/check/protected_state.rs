//! The state of Autonoe, wherever it is mentioned.

use super::arg::Arg;
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

/// Tells whether a patch, or a list of paths for git, mentions `.autonoe`.
///
/// Git writes some bytes of a path as `\\056`, and reads them so.
pub(crate) fn is_mentioned_in_patch(text: &str) -> bool {
    is_mentioned_in(text) || (text.contains('\\') && is_mentioned_in(&with_octal_bytes(text)))
}

fn with_octal_bytes(text: &str) -> String {
    let mut pieces = text.split('\\');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let byte = piece.get(..3).and_then(|it| u8::from_str_radix(it, 8).ok());
        match byte {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(&piece[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(piece);
            }
        }
    }
    plain
}

/// Tells whether git with this argument changes the files that its input names.
pub(crate) fn makes_git_carry_out(arg: &Arg<'_>) -> bool {
    let subcommands = ["apply", "am", "update-index", "mktree"];
    subcommands.iter().any(|name| arg.is(name)) || arg.text.starts_with("--pathspec-fr")
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

    #[test]
    fn patches_may_write_bytes_as_numbers() {
        for text in [
            "+++ b/.autonoe/x",
            r#"+++ "b/\056autonoe/x""#,
            r"\x\056auton\157e",
        ] {
            assert!(is_mentioned_in_patch(text), "{text}");
        }
        for text in ["+++ b/src/x", r"\056env", r"\", r"\09", "\\é.auto"] {
            assert!(!is_mentioned_in_patch(text), "{text}");
        }
    }
}
