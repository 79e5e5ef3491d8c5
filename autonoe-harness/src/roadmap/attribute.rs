//! Attributes of a task: `key: value` lines, such as its commands and its time limit.

use autonoe_core::project::suggest;

use super::outline::Line;

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
        suggestion: Option<&'static str>,
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
                suggestion: suggest(key, KEYS),
            },
        }
    }
}

/// Parses `90s`, `20m`, `2h` or a plain number of minutes, and returns seconds.
pub(super) fn parse_timeout(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a duration: write 90s, 20m or 2h");
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    let unit = match text[digits.len()..].trim() {
        "s" | "sec" | "seconds" => 1,
        "" | "m" | "min" | "minutes" => 60,
        "h" | "hours" => 3600,
        _ => return Err(wrong()),
    };
    match count.checked_mul(unit) {
        Some(0) => Err("the timeout is 0; write 90s, 20m or 2h".to_owned()),
        Some(seconds) => Ok(seconds),
        None => Err(format!("{text:?} is too long")),
    }
}

/// Characters that only have a meaning in a shell, which is not used here.
const SHELL_CHARS: [char; 11] = ['|', '&', ';', '<', '>', '(', ')', '$', '*', '?', '~'];

/// Words that only a shell understands: no program has such a name.
const SHELL_WORDS: [&str; 32] = [
    "!", ".", "[[", "{", "}", "alias", "case", "cd", "do", "done", "elif", "else", "esac", "eval",
    "exec", "exit", "export", "fi", "for", "function", "if", "local", "return", "select", "set",
    "shopt", "source", "then", "trap", "unset", "until", "while",
];

/// Splits a command into words like a shell, and refuses syntax that needs one.
pub(super) fn split_command(command: &str) -> Result<Vec<String>, String> {
    if let Some(mark) = find_shell_char(command) {
        return Err(format!(
            "the command does not run in a shell, so {mark:?} has no effect: quote it, or put \
             the command into a script"
        ));
    }
    let words = shlex::split(command).ok_or("the command has an unclosed quote")?;
    let Some(program) = words.first() else {
        return Err("the command is empty".to_owned());
    };
    if SHELL_WORDS.contains(&program.as_str()) {
        return Err(format!(
            "the command does not run in a shell, and {program:?} is not a program: put the \
             command into a script, or write `sh -c '..'`"
        ));
    }
    if sets_a_variable(program) {
        return Err(format!(
            "the command does not run in a shell, so {program:?} sets no variable: write `env \
             {program} ..`"
        ));
    }
    Ok(words)
}

fn sets_a_variable(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_letter))
}

fn find_shell_char(command: &str) -> Option<char> {
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                chars.next();
            }
            (Some(_), '$') => return Some('$'),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if SHELL_CHARS.contains(&c) => return Some(c),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_minutes_need_none() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("20m", Some(1200)),
            ("20 min", Some(1200)),
            ("30", Some(1800)),
            ("2h", Some(7200)),
            ("0", None),
            ("", None),
            ("h", None),
            ("-5m", None),
            ("1.5h", None),
            ("5 parsecs", None),
            ("99999999999999999999", None),
            ("18446744073709551615h", None),
        ] {
            assert_eq!(parse_timeout(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_command_is_cut_into_its_words() {
        for (command, words) in [
            ("cargo test parser", vec!["cargo", "test", "parser"]),
            ("grep \"a b\" x", vec!["grep", "a b", "x"]),
            (
                "sh -c 'make && make test'",
                vec!["sh", "-c", "make && make test"],
            ),
            ("echo a\\&b", vec!["echo", "a&b"]),
            ("printf '$HOME'", vec!["printf", "$HOME"]),
        ] {
            assert_eq!(split_command(command).expect(command), words);
        }
    }

    #[test]
    fn shell_syntax_is_refused() {
        for (command, reason) in [
            ("cargo fmt --check && cargo test", "'&'"),
            ("cat log | grep ok", "'|'"),
            ("make; make test", "';'"),
            ("make > log", "'>'"),
            ("test -f $OUT", "'$'"),
            ("test -f \"$OUT\"", "'$'"),
            ("ls *.rs", "'*'"),
            ("grep \"a b", "unclosed quote"),
            ("if true", "\"if\" is not a program"),
            ("cd sub", "\"cd\" is not a program"),
            ("! grep -q TODO a.txt", "\"!\" is not a program"),
            ("CI=1 cargo test", "env CI=1"),
            ("  ", "the command is empty"),
        ] {
            let error = split_command(command).expect_err(command);
            assert!(error.contains(reason), "{command}: {error}");
        }
    }
}
