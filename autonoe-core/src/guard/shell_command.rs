//! What a shell command has to do with `.autonoe`.

use std::borrow::Cow;

use super::file_name::visible;
use super::shell_spelling::could_spell_the_name;

/// Commands that only read, with every option that they have.
const READERS: [&str; 7] = ["ls", "cat", "head", "tail", "wc", "grep", "diff"];

/// Tells whether `command` could change something in `.autonoe`.
///
/// It could when it mentions or could spell that name, unless it plainly only
/// reads. A program that is allowed to run can still build the name by itself:
/// that is for the sandbox to stop.
pub(super) fn could_change_autonoe(command: &str) -> bool {
    touches_autonoe(&visible(command)) && !plainly_reads(command)
}

fn touches_autonoe(command: &str) -> bool {
    // With this option a bare `*` takes names with a dot too.
    let all_names = ["dotglob", "globdots", "glob_dots"];
    let spellings: [Cow<'_, str>; 3] = [
        command.into(),
        command.replace('\\', "/").into(),
        decoded(command).into(),
    ];
    all_names
        .iter()
        .any(|option| command.to_ascii_lowercase().contains(option))
        || spellings
            .iter()
            .any(|text| mentions_autonoe(text) || could_spell_the_name(text))
}

/// Tells whether `text` mentions `.autonoe` as it is, or with its quotes and backslashes taken away.
///
/// `.autonoe-note.md` and names that go on with a letter are other files.
pub(super) fn mentions_autonoe(text: &str) -> bool {
    const NAME: &str = ".autonoe";
    let text = visible(text).to_ascii_lowercase();
    let bare = text.replace(['\'', '"', '\\'], "");
    [text, bare].iter().any(|text| {
        text.match_indices(NAME).any(|(at, _)| {
            let next = text[at + NAME.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        })
    })
}

/// Tells whether `command` is one reading command of plain words.
fn plainly_reads(command: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " \t_-./*?[]=:,+@%^~".contains(c);
    let first = command.split([' ', '\t']).find(|word| !word.is_empty());
    command.chars().all(plain) && first.is_some_and(|word| READERS.contains(&word))
}

/// Replaces `\x2e`, `\u002e` and `\056` by the character that they stand for in `$'..'` and in
/// the strings of most languages.
fn decoded(command: &str) -> String {
    let mut text = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match escape(rest) {
            Some((c, length)) => {
                text.push(c);
                rest = &rest[length..];
            }
            None => text.push('\\'),
        }
    }
    text + rest
}

/// Reads the escape behind a backslash: the character and how many bytes it takes.
fn escape(rest: &str) -> Option<(char, usize)> {
    let (skip, radix, most) = match rest.as_bytes().first()? {
        b'x' => (1, 16, 2),
        b'u' => (1, 16, 4),
        b'U' => (1, 16, 8),
        b'0'..=b'7' => (0, 8, 3),
        _ => return None,
    };
    // `\u{2e}` is how some languages write it.
    let braces = usize::from(rest[skip..].starts_with('{'));
    let digits = &rest[skip + braces..];
    let length = digits
        .chars()
        .take(most)
        .take_while(|c| c.is_digit(radix))
        .count();
    let c = char::from_u32(u32::from_str_radix(&digits[..length], radix).ok()?)?;
    Some((c, skip + length + 2 * braces))
        .filter(|_| braces == 0 || digits[length..].starts_with('}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_could_change_it_is_found() {
        for command in [
            "rm -rf .autonoe",
            "rm -rf .AUTONOE/",
            "echo x > .autonoe/status.json",
            "echo x > .auto\"noe\"/status.json",
            "echo x > .auto\\noe/status.json",
            "copy x .autonoe\\status.json",
            "rm .\u{200b}autonoe/x",
            "rm .auto*",
            "cp x src\\.auto*",
            "rm $'\\x2eautonoe'",
            "rm $'\\056autonoe'",
            "node -e \"rm('\\u002eautonoe')\"",
            "node -e \"rm('\\u{2e}autonoe')\"",
            "node -e \"fs.rmSync('.autonoe',{recursive:true})\"",
            "shopt -s dotglob; rm *",
            "git checkout -- .autonoe/status.json",
            "sort -o .autonoe/status.json a",
            "find . -path './.autonoe/*' -delete",
            "cat .autonoe/status.json | tee x",
            "cat .autonoe/status.json > x",
            "cat x > .autonoe/status.json",
            "cat $(rm .autonoe)",
            "cat '.autonoe/status.json'",
            "ls .autonoe; rm x",
            "ls .autonoe\nrm x",
            "ls .autonoe & rm x",
            "l* .autonoe",
            "A=b ls .autonoe",
            "/bin/ls .autonoe",
            "tee .autonoe/x",
        ] {
            assert!(could_change_autonoe(command), "{command:?}");
        }
    }

    #[test]
    fn what_only_reads_it_is_let_through() {
        for command in [
            "ls -la .autonoe",
            "ls .*",
            "cat .autonoe/status.json",
            "cat .autonoe/*.json",
            "head -n 5 ./.autonoe/status.json",
            "tail .autonoe/status.json",
            "wc -l .autonoe/status.json",
            "grep -c passed .autonoe/status.json",
            "diff .autonoe/status.json other.json",
        ] {
            assert!(!could_change_autonoe(command), "{command:?}");
        }
    }

    #[test]
    fn what_has_nothing_to_do_with_it_is_let_through() {
        for command in [
            "",
            "ls",
            "npm test",
            "echo x >> .autonoe-note.md",
            "git add .autonoe-note.md && git commit -m x",
            "rm .autonoes",
            "printf 'a\\n\\x41\\0'",
            "echo \\",
            "echo \\x",
            "echo \\u{",
            "echo \\u{é}",
        ] {
            assert!(!could_change_autonoe(command), "{command:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(command in "(.|\\\\|\\\\x|\\\\u\\{|\\.auto|noe|\\*){0,40}") {
            could_change_autonoe(&command);
        }

        #[test]
        fn only_a_reading_command_may_mention_it(
            before in "[ -~]{0,12}", after in "([ /;&|<>()'\"\\\\][ -~]{0,12})?",
        ) {
            let command = format!("{before} .autonoe{after}");
            let first = command.split_whitespace().next().unwrap_or_default();

            let passed = !could_change_autonoe(&command);

            prop_assert!(!passed || READERS.contains(&first), "{command:?}");
        }
    }
}
