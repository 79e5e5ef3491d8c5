//! Patterns for shell commands: `npm run *`, `git status`.

use super::command_words::{RenderedCommand, commands_in};
use super::wildcard::Wildcard;

/// Pattern for complete shell commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandPattern {
    /// Any command: the Bash policy decides what may run.
    Any,
    /// One simple command of this form.
    Simple {
        /// The text with its arguments.
        whole: Wildcard,
        /// The text without arguments, if the pattern ends in ` *`.
        bare: Option<Wildcard>,
    },
}

impl CommandPattern {
    /// Parses `text`. The error describes the problem.
    ///
    /// `npm run:*` is an older spelling of `npm run *`.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "*" {
            return Ok(Self::Any);
        }
        if has_shell_control(text) {
            return Err("only Bash(*) covers commands with shell control characters");
        }
        let command = text
            .strip_suffix(":*")
            .or_else(|| text.strip_suffix(" *"))
            .map(str::trim_end);
        match command {
            Some("") => Err("the pattern has no command before its arguments"),
            Some(command) => Ok(Self::Simple {
                whole: Wildcard::with_star(&format!("{command} *")),
                bare: Some(Wildcard::with_star(command)),
            }),
            None => Ok(Self::Simple {
                whole: Wildcard::with_star(text),
                bare: None,
            }),
        }
    }

    /// Returns whether any command that `command` may run could match the pattern.
    ///
    /// Used for blocking: every command counts, regardless of its position and of what starts it.
    /// An expansion can be anything, and so can a text that the parser does not understand.
    pub(super) fn touches(&self, command: &str) -> bool {
        let could_match = |written: &RenderedCommand| match self {
            Self::Any => true,
            Self::Simple { whole, bare } => {
                whole.could_match(written)
                    || bare.as_ref().is_some_and(|bare| bare.could_match(written))
            }
        };
        match (self, commands_in(command)) {
            (Self::Any, _) | (_, Err(_)) => true,
            (_, Ok(commands)) => commands.iter().any(could_match),
        }
    }

    fn fits(&self, command: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Simple { whole, bare } => {
                whole.matches(command) || bare.as_ref().is_some_and(|bare| bare.matches(command))
            }
        }
    }

    /// Returns whether the pattern matches the whole of `command`.
    pub(super) fn covers(&self, command: &str) -> bool {
        let command = command.trim_matches([' ', '\t']);
        *self == Self::Any || (!has_shell_control(command) && self.fits(command))
    }
}

/// Returns whether `text` contains anything that can start a second command.
///
/// Such characters count in quotes, too: a rule that grants must not depend on how they are parsed.
fn has_shell_control(text: &str) -> bool {
    text.contains(|c: char| ";&|`$<>()".contains(c) || (c.is_control() && c != '\t'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covers(pattern: &str, command: &str) -> bool {
        CommandPattern::parse(pattern)
            .expect("the pattern is valid")
            .covers(command)
    }

    #[test]
    fn patterns_cover_matching_commands() {
        for (pattern, command, covered) in [
            ("*", "rm -rf / && $(curl x)", true),
            ("npm run *", "npm run build", true),
            ("npm run *", "  npm run build ", true),
            ("npm run *", "npm run", true),
            ("npm run *", "npm running", false),
            ("npm run *", "npm runner x", false),
            ("npm run:*", "npm run build", true),
            ("npm run:*", "npm run", true),
            ("npm run:*", "npm running", false),
            ("npm*", "npmx", true),
            ("git * main", "git push origin main", true),
            ("git status", "git status", true),
            ("git status", "git status -s", false),
            ("ls ?", "ls a", false),
        ] {
            assert_eq!(covers(pattern, command), covered, "{pattern} {command}");
        }
    }

    #[test]
    fn a_pattern_touches_a_command_however_it_is_run() {
        for command in [
            "git push",
            "git  push origin",
            "git\tpush",
            "git \\\npush",
            "FOO=1 git push",
            "{ git push; }",
            "if true; then git push; fi",
            "for x in a; do git push; done",
            "! git push",
            "time git push",
            "command git push",
            "env A=b git push",
            "nohup git push &",
            "echo origin | xargs -n 1 git push",
            "timeout 5 git push",
            "timeout -s KILL 5 git push",
            "/usr/bin/git push",
            "git --no-pager push",
            "git -C . push",
            "git -c a=b --git-dir x push",
            "sh -c 'git push'",
            "bash -lc \"cd x && git push\"",
            "find . -name a -exec git push {} +",
            "sudo -u me env A=b /usr/bin/git -C . push",
            "sudo --unknown value git push",
            "bash -c 'eval \"git push\"'",
            "echo \"$(git push)\"",
            "cat <(git push)",
            "g\"i\"t p\\ush",
            "git $x",
            "git \"$x\" origin",
            "git {push,origin}",
            "git p?sh",
            "$git push",
            "git 'unfinished",
            "f() { git push; }; f",
            "bash -c \"$x\"",
        ] {
            let pattern = CommandPattern::parse("git push *").expect("the pattern is valid");

            assert!(pattern.touches(command), "{command:?}");
        }
    }

    #[test]
    fn a_pattern_does_not_touch_commands_that_only_mention_it() {
        for command in [
            "git status",
            "git -C push status",
            "git log --grep push",
            "echo git push",
            "git commit -m 'then git push'",
            "grep -c git push",
            "git log \"$x\" # git push",
            "git commit -m \"$(cat <<'E'\ngit push\nE\n)\"",
            "cat <<'E'\ngit push\nE",
            "git add *.rs",
            "bash -c 'echo git push'",
        ] {
            let pattern = CommandPattern::parse("git push *").expect("the pattern is valid");

            assert!(!pattern.touches(command), "{command:?}");
        }
    }

    #[test]
    fn shell_control_is_never_covered_by_a_pattern_even_in_quotes() {
        for tail in [
            "; rm x",
            "& rm x",
            "&& rm x",
            "| sh",
            "\nrm x",
            "\rrm x",
            "`rm x`",
            "$(rm x)",
            "${x@P}",
            "$[x]",
            "$x",
            "< f",
            "> f",
            "(x)",
            "'; rm x'",
            "\"$(rm x)\"",
            "\0",
        ] {
            for pattern in ["npm run *", "npm run:*", "npm*", "**"] {
                let command = format!("npm run a {tail}");

                assert!(!covers(pattern, &command), "{pattern} {command:?}");
            }
        }
    }

    #[test]
    fn patterns_that_could_cover_nothing_are_rejected() {
        for text in ["a && b", "a | b", "echo $(x)", ":*", " *", "a\nb"] {
            assert!(
                CommandPattern::parse(text).is_err(),
                "{text:?} was accepted"
            );
        }
    }

    proptest! {
        #[test]
        fn a_shell_control_character_anywhere_prevents_a_match(
            head in "[a-z ]{0,8}", control in "[;&|`$<>()\n\r]", tail in ".{0,8}",
        ) {
            let command = format!("{head}{control}{tail}x");

            prop_assert!(!covers("**", &command));
        }
    }
}
