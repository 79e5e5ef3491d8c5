//! What a shell command has to do with `.autonoe`.

use std::borrow::Cow;

use super::file_name::{components, spells};
use super::plain_reading::only_reads;
use super::shell_spelling::{could_spell_the_name, text_could_spell_the_name};
use crate::port::lexical_path::percent::percent_decoded;
use crate::port::lexical_path::visible::visible;

/// Tells whether `command` could change something in `.autonoe`.
///
/// It could when it mentions or could spell that name, unless it plainly only
/// reads. A program that is allowed to run can still build the name by itself:
/// that is for the sandbox to stop.
pub(super) fn could_change_autonoe(command: &str) -> bool {
    touches_autonoe(command) && !only_reads(command, touches_autonoe)
}

fn touches_autonoe(command: &str) -> bool {
    let command = visible(command);
    lets_stars_take_dots(&command)
        || spellings(&command)
            .iter()
            .any(|text| mentions_autonoe(text) || could_spell_the_name(text))
}

/// Tells whether `text`, which some tool is given, mentions or could spell `.autonoe`.
pub(super) fn text_touches_autonoe(text: &str) -> bool {
    let text = percent_decoded(&visible(text));
    components(&text).any(|component| spells(component, ".autonoe"))
        || spellings(&text)
            .iter()
            .any(|text| mentions_autonoe(text) || text_could_spell_the_name(text))
}

/// Tells whether `command` has an option with which a bare `*` takes names with a dot too.
fn lets_stars_take_dots(command: &str) -> bool {
    let bare = command.replace(['\'', '"', '\\'], "").to_ascii_lowercase();
    ["dotglob", "globdots", "glob_dots", "globignore"]
        .iter()
        .any(|option| bare.contains(option))
}

/// Returns what `text` can be read as: with `\` as a separator, and with escapes decoded.
fn spellings(text: &str) -> Vec<Cow<'_, str>> {
    let mut spellings = vec![text.into()];
    if text.contains('\\') {
        spellings.extend([text.replace('\\', "/").into(), decoded(text).into()]);
    }
    spellings
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
            "cat x > .autonoe/status.json",
            "cat $(rm .autonoe)",
            "rm .autonoe.bak",
            "ls .autonoe; rm -r .autonoe",
            "ls .autonoe\nrm -r .auto*",
            "ls .autonoe & rm x",
            "shopt -s \"dot\"glob; rm *",
            "GLOBIGNORE=x; rm *",
            "l* .autonoe",
            "A=b ls .autonoe",
            "/bin/ls .autonoe",
            "tee .autonoe/x",
        ] {
            assert!(could_change_autonoe(command), "{command:?}");
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

    #[test]
    fn the_name_is_found_in_the_input_of_any_tool() {
        for (text, found) in [
            (".autonoe/x", true),
            ("a/AUTONO~1/x", true),
            ("file:///p/%2Eautonoe/x", true),
            ("%2e%61utonoe", true),
            (".auto*", true),
            (".{auto,x}noe", true),
            ("\\x2eautonoe", true),
            ("sub\\.autonoe \\x", true),
            (".autonoe-note.md", false),
            ("match (.*) 100% of %zz %é it's", false),
            ("autonoe", false),
        ] {
            assert_eq!(text_touches_autonoe(text), found, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(command in "(.|\\\\|\\\\x|\\\\u\\{|\\.auto|noe|\\*){0,40}") {
            could_change_autonoe(&command);
            text_touches_autonoe(&command);
        }
    }
}
