//! Attributes of a task: `key: value` lines below it.

use super::outline::{Line, nearest};

/// The valid keys of a task.
pub(super) const KEYS: [&str; 11] = [
    "goal",
    "context",
    "depends",
    "timeout",
    "success",
    "cwd",
    "cli",
    "model",
    "max_iterations",
    "require_tests",
    "test_path",
];

/// Keys of um-agent-coder that have no effect here, each with the reason for the warning.
const IGNORED: [(&str, &str); 15] = [
    (
        "ralph",
        "every task is retried until it is verified; see max_iterations",
    ),
    (
        "completion_promise",
        "an agent cannot complete a task by saying so; write `success`",
    ),
    ("goal_validate", "write the check as `success`"),
    ("goal_threshold", "a success criterion holds or does not"),
    ("daemon_url", "there is no daemon"),
    ("scoring_interval", "every iteration is verified"),
    ("inject_checklist", "success criteria are in every prompt"),
    ("oscillation_detection", "stuck agents are always detected"),
    ("stuck_after", "stuck agents are always detected"),
    ("max_time", "write `timeout`"),
    (
        "worktree",
        "every member has a worktree; see --no-worktrees",
    ),
    (
        "worktree_base",
        "worktrees start at the branch that is checked out",
    ),
    (
        "auto_merge",
        "verified work is merged; see --strategy for who merges what",
    ),
    ("issue", "nothing is read from or written to GitHub"),
    ("sync_github", "nothing is read from or written to GitHub"),
];

/// A line below a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attribute<'a> {
    Known {
        key: &'static str,
        value: &'a str,
    },
    /// A key that has no effect, with the reason.
    Ignored {
        key: &'a str,
        reason: &'static str,
    },
    Unknown {
        key: &'a str,
        meant: Option<&'static str>,
    },
    /// A line without a key: part of the goal.
    Text(&'a str),
}

impl<'a> Attribute<'a> {
    pub(super) fn parse(line: &Line<'a>) -> Self {
        let text = line.item().unwrap_or_else(|| line.text.trim());
        if line.is_code {
            return Self::Text(line.text);
        }
        let Some((key, value)) = text.split_once(':') else {
            return Self::Text(text);
        };
        let (key, value) = (key.trim(), value.trim());
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        // `//` after the colon is a URL, not a value.
        if key.is_empty() || !key.chars().all(is_word) || value.starts_with("//") {
            return Self::Text(text);
        }
        if let Some(key) = KEYS.iter().find(|known| known.eq_ignore_ascii_case(key)) {
            return Self::Known { key, value };
        }
        let ignored = IGNORED
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(key));
        match ignored {
            Some((_, reason)) => Self::Ignored { key, reason },
            // `Requirements:` starts a list of the description.
            None if value.is_empty() => Self::Text(text),
            None => Self::Unknown {
                key,
                meant: nearest(key, KEYS),
            },
        }
    }
}
