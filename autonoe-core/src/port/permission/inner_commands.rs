//! The commands that one command runs.

/// Words of the shell that a command can stand behind.
const RESERVED: [&str; 11] = [
    "if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "time",
];

/// Commands that run a command which is among their arguments.
const RUNNERS: [&str; 20] = [
    "command", "builtin", "exec", "env", "nohup", "xargs", "timeout", "time", "nice", "ionice",
    "setsid", "stdbuf", "sudo", "doas", "sh", "bash", "dash", "zsh", "ksh", "eval",
];

/// Options of git, before its own command, that take the next word.
const GIT_OPTIONS: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// So many words are looked at in the arguments of a runner.
const MOST_WORDS: usize = 100;

/// Returns the commands that `part`, which has no control characters, may run.
///
/// They are written with one blank between words and without directories,
/// assignments and options of git in front. A runner may run any rest of its
/// words. Returns `None` when there are too many of them to look at.
pub(super) fn commands_in(part: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = part.split_whitespace().collect();
    let own = without_prefix(&words);
    let mut commands = vec![written(own)];
    let is_runner = own
        .first()
        .is_some_and(|word| RUNNERS.contains(&last_part(word)));
    let inner = if is_runner {
        own.get(1..)
    } else {
        own.iter()
            .position(|word| ["-exec", "-execdir", "-ok", "-okdir"].contains(word))
            .and_then(|at| own.get(at + 1..))
    };
    let inner = inner.unwrap_or_default();
    if inner.len() > MOST_WORDS {
        return None;
    }
    let rests = (0..inner.len()).map(|at| written(without_prefix(&inner[at..])));
    commands.extend(rests);
    Some(commands)
}

fn without_prefix<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let at = words
        .iter()
        .position(|word| !RESERVED.contains(word) && !is_assignment(word));
    &words[at.unwrap_or(words.len())..]
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn written(words: &[&str]) -> String {
    let Some((name, mut arguments)) = words.split_first() else {
        return String::new();
    };
    let name = last_part(name);
    while let ("git", [option, rest @ ..]) = (name, arguments)
        && option.starts_with('-')
    {
        let taken = usize::from(GIT_OPTIONS.contains(option)).min(rest.len());
        arguments = &rest[taken..];
    }
    [&[name], arguments].concat().join(" ")
}

fn last_part(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_behind_what_runs_it() {
        for (part, command) in [
            ("  a\t b ", "a b"),
            ("then A=1 b+=2 /bin/x y", "x y"),
            ("git -C d --no-pager push -f", "git push -f"),
            ("git", "git"),
            ("git -C", "git"),
            ("timeout 5 x", "x"),
            ("env -i A=1 nice -n 5 x y", "x y"),
            ("find . -exec rm {} +", "rm {} +"),
            ("", ""),
        ] {
            let commands = commands_in(part).expect("it is short");

            assert!(
                commands.iter().any(|own| own == command),
                "{part}: {commands:?}"
            );
        }
    }

    #[test]
    fn what_runs_nothing_is_one_command() {
        assert_eq!(commands_in("echo rm x"), Some(vec!["echo rm x".to_owned()]));
    }

    #[test]
    fn a_hostile_command_takes_no_time() {
        assert_eq!(commands_in(&"env ".repeat(100_000)), None);
        assert!(commands_in(&"git -C ".repeat(100_000)).is_some());
    }
}
