//! Commands that plainly only read `.autonoe`.

use super::plain_words::{Item, items};

/// Commands that only read, with every option that they have.
const READERS: [&str; 14] = [
    "ls", "cat", "head", "tail", "wc", "grep", "diff", "jq", "cut", "tr", "tac", "test", "[",
    "echo",
];

/// What git does without changing a file of the project.
const GIT_READERS: [&str; 8] = [
    "add",
    "log",
    "diff",
    "show",
    "status",
    "ls-files",
    "check-ignore",
    "commit",
];

/// Words that give the words behind them, or later ones, another meaning.
const SHELL_WORDS: [&str; 24] = [
    "alias", "hash", "enable", "eval", "exec", "trap", "source", ".", "if", "then", "elif", "else",
    "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "time",
    "coproc",
];

/// Tells whether `command` is a list of plain pipelines, of which those that `touch` something
/// consist of readers only.
///
/// A pipeline is excused as a whole: `ls -d .autonoe | xargs rm -r` starts with
/// a reader too.
pub(super) fn only_reads(command: &str, touches: impl Fn(&str) -> bool) -> bool {
    let Some(items) = items(command) else {
        return false;
    };
    let (touching, others): (Vec<_>, Vec<_>) = items.iter().partition(|item| touches(item.text));
    !touching.is_empty()
        && touching.iter().all(|item| is_reading(item, &touches))
        && others.iter().all(|item| keeps_meanings(item))
}

fn is_reading(item: &Item<'_>, touches: &impl Fn(&str) -> bool) -> bool {
    let targets = item.pipeline.iter().flat_map(|command| &command.targets);
    item.pipeline
        .iter()
        .all(|command| is_reader(&command.words))
        && targets.into_iter().all(|target| {
            let plain = |c: char| c.is_alphanumeric() || "_-./+@%=:,".contains(c);
            target.chars().all(plain) && !touches(target)
        })
}

fn is_reader(words: &[String]) -> bool {
    let Some((name, arguments)) = words.split_first() else {
        return false;
    };
    let is_option = |word: &&String| word.starts_with('-') && *word != "-";
    let mut options = arguments.iter().filter(is_option);
    match name.as_str() {
        "printf" => true,
        // `-o`, `--output` and `--compress-program`, whatever is left of the word.
        "sort" => !options.any(|option| option.contains('o')),
        // The second operand is written to.
        "uniq" => {
            let operands = arguments.iter().filter(|word| !is_option(word));
            let one = operands.count() <= 1;
            one && !arguments
                .iter()
                .any(|word| word == "--" || word.contains(['*', '?', '[', '~']))
        }
        "git" => {
            let subcommand = arguments.iter().find(|word| *word != "--no-pager");
            subcommand.is_some_and(|word| GIT_READERS.contains(&word.as_str()))
                && !options.any(|option| option.starts_with("--o") || option.starts_with("--ext"))
        }
        name => READERS.contains(&name),
    }
}

/// Tells whether commands behind this one are what they seem, and it does not take up `$_`.
fn keeps_meanings(item: &Item<'_>) -> bool {
    let expands = item.text.contains(['$', '`']);
    let mut first = item
        .pipeline
        .iter()
        .filter_map(|command| command.words.first());
    !expands && !first.any(|word| SHELL_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reads(command: &str) -> bool {
        only_reads(command, |text| text.contains(".autonoe"))
    }

    #[test]
    fn plain_readers_are_let_through() {
        for command in [
            "ls -la .autonoe",
            "cat .autonoe/status.json",
            "cat '.autonoe/status.json'",
            "cat \"/srv/project/.autonoe/status.json\"",
            "cat .autonoe/*.json",
            "head -n 5 ./.autonoe/status.json",
            "tail .autonoe/status.json",
            "wc -l .autonoe/status.json",
            "grep -c passed .autonoe/status.json",
            "diff .autonoe/status.json other.json",
            "cat .autonoe/status.json | jq .",
            "cat .autonoe/status.json | head -50",
            "cat .autonoe/status.json 2>/dev/null",
            "cat .autonoe/status.json >/dev/null 2>&1",
            "ls -la .autonoe/ 2>/dev/null || echo none",
            "ls .autonoe && cat .autonoe/status.json",
            "ls .autonoe; rm x",
            "ls .autonoe\nnpm test",
            "jq '.deliverables[] | select(.passed)' .autonoe/status.json",
            "cd /srv/project && cat .autonoe/status.json",
            "test -d .autonoe && echo yes",
            "[ -d .autonoe ] || echo no",
            "grep -rn \"foo\" --exclude-dir=.autonoe .",
            "git status .autonoe",
            "git --no-pager log -- .autonoe",
            "git add .autonoe/status.json && git commit -m \"chore: status\"",
            "git commit -m \"Ignore .autonoe directory\"",
            "echo \".autonoe/\" >> .gitignore",
            "cat .autonoe/status.json > x",
            "cat .autonoe/a | sort -u | uniq -c | cut -c 1-3 | tr a b | tac",
        ] {
            assert!(reads(command), "{command:?}");
        }
    }

    #[test]
    fn nothing_else_is_excused() {
        for command in [
            "",
            "ls",
            "rm .autonoe/x",
            "cd .autonoe",
            "cd .autonoe && cat status.json",
            "ls -d .autonoe | xargs rm -r",
            "ls -d .autonoe |\nxargs rm -r",
            "cat x | tee .autonoe/status.json",
            "cat .autonoe/status.json | tee x",
            "cat x > .autonoe/status.json",
            "cat x >.autonoe/status.json",
            "cat x 2>> '.autonoe/status.json'",
            "cat .autonoe/x > \"a b\"",
            "cat .autonoe/x > a*",
            "> .autonoe/status.json",
            "cat .autonoe/x &",
            "cat .autonoe/x < y",
            "cat .autonoe/x |& sh",
            "cat .autonoe/$x",
            "cat \".autonoe/$(x)\"",
            "cat .autonoe/{a,b}",
            "cat .autonoe/x \\\n| sh",
            "cat .autonoe/x # y",
            "ls -d .autonoe; rm -r $_",
            "ls -d .autonoe; eval 'rm -r $_'",
            "ls -d .autonoe; awk '$_' x",
            "alias ls=rm\nls -r .autonoe",
            "hash -p /bin/rm ls; ls -r .autonoe",
            "if true; then true; ls -d .autonoe; fi | xargs rm -r",
            "for f in a; do ls .autonoe; done",
            "x=.autonoe; ls",
            "A=b ls .autonoe",
            "/bin/ls .autonoe",
            "sort -o .autonoe/status.json a",
            "sort a -uo .autonoe/status.json",
            "sort --ou=.autonoe/status.json a",
            "uniq a .autonoe/status.json",
            "uniq - .autonoe/status.json",
            "uniq -- -a .autonoe/status.json",
            "uniq .autonoe/*",
            "git checkout -- .autonoe/status.json",
            "git diff --output=.autonoe/status.json",
            "git -c a=b add .autonoe",
            "git rm .autonoe/status.json",
            "git .autonoe",
            "cat .autonoe/x 'unfinished",
        ] {
            assert!(!reads(command), "{command:?}");
        }
    }

    proptest! {
        #[test]
        fn only_a_reading_command_may_mention_it(
            before in "([a-z;&| -]|ls |cat ){0,12}", after in "([ /;&|<>()'\"\\\\][ -~]{0,12})?",
        ) {
            let command = format!("{before} .autonoe{after}");
            let own = before.rsplit([';', '&', '|']).next().unwrap_or_default();
            let first = own.split_whitespace().next().unwrap_or_default();

            prop_assert!(!reads(&command) || READERS.contains(&first), "{command:?}");
        }
    }
}
