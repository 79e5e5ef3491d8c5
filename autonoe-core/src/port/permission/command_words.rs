//! The commands that a shell command runs, as texts that patterns are compared with.

use autonoe_security::InnerCommands;
use autonoe_security::syntax::{ArgWord, Part, SimpleCommand, SyntaxError, Text, commands, parse};

use super::wildcard::Piece;

/// Options of git, before its subcommand, that take the next word.
const GIT_OPTIONS: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// How many words of a command that starts others are read.
const MOST_WORDS: usize = 100;

/// How deep scripts in scripts are followed.
const DEEPEST: usize = 8;

/// A command that may run: its words with one blank between them.
pub(super) type Written = Vec<Piece>;

/// Returns every command that `text` may run, in every form that a pattern may have.
///
/// A command that starts another one may start any rest of its words, because options that are
/// unknown here may take values.
///
/// # Errors
///
/// The text is not understood, or there are too many commands in it.
pub(super) fn commands_in(text: &str) -> Result<Vec<Written>, Unreadable> {
    let mut found = Vec::new();
    read_script(text, 0, &mut found)?;
    Ok(found)
}

/// A shell command whose commands cannot be listed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

impl From<SyntaxError> for Unreadable {
    fn from(_: SyntaxError) -> Self {
        Self
    }
}

fn read_script(text: &str, depth: usize, found: &mut Vec<Written>) -> Result<(), Unreadable> {
    if depth > DEEPEST {
        return Err(Unreadable);
    }
    let script = parse(text)?;
    for command in commands(&script) {
        // As it is written, for patterns with a directory or an assignment.
        let written = text.get(command.span.range()).unwrap_or_default();
        found.push(written.chars().map(Piece::Char).collect());
        read_command(command, depth, found)?;
    }
    Ok(())
}

fn read_command(
    command: &SimpleCommand<'_>,
    depth: usize,
    found: &mut Vec<Written>,
) -> Result<(), Unreadable> {
    let words: Vec<&ArgWord<'_>> = command.words.iter().collect();
    let texts: Vec<Option<Text<'_>>> = words.iter().map(|word| word.static_text()).collect();
    found.push(written(&words, &texts));
    let inner = InnerCommands::read(&texts);
    if inner.is_empty() {
        return Ok(());
    }
    if words.len() > MOST_WORDS {
        return Err(Unreadable);
    }
    for at in 1..words.len() {
        // A name that is expanded can be any command, so it must be one for certain.
        let is_name = inner.commands.iter().any(|range| range.start == at)
            || (inner.is_uncertain && inner.commands.is_empty());
        if texts[at].is_some() || is_name {
            found.push(written(&words[at..], &texts[at..]));
        }
        for range in InnerCommands::read(&texts[at..]).scripts {
            read_text(&texts[at..][range], depth, found)?;
        }
    }
    for range in inner.scripts {
        read_text(&texts[range], depth, found)?;
    }
    Ok(())
}

fn read_text(
    texts: &[Option<Text<'_>>],
    depth: usize,
    found: &mut Vec<Written>,
) -> Result<(), Unreadable> {
    let texts: Option<Vec<&str>> = texts.iter().map(Option::as_deref).collect();
    match texts {
        Some(texts) => read_script(&texts.join(" "), depth + 1, found),
        None => Err(Unreadable),
    }
}

/// Writes a command without the directory of its name and without options of git itself.
fn written(words: &[&ArgWord<'_>], texts: &[Option<Text<'_>>]) -> Written {
    let mut pieces = Vec::new();
    let mut at = 0;
    if let Some(Some(name)) = texts.first() {
        let name = name.rsplit('/').next().unwrap_or(name);
        pieces.extend(name.chars().map(Piece::Char));
        at = 1;
        while name == "git"
            && let Some(Some(option)) = texts.get(at)
            && option.starts_with('-')
        {
            at += 1 + usize::from(GIT_OPTIONS.contains(&option.as_ref()));
        }
    }
    for word in words.iter().skip(at) {
        if !pieces.is_empty() {
            pieces.push(Piece::Char(' '));
        }
        match word {
            ArgWord::Word(word) => add(&word.parts, &mut pieces),
            ArgWord::Array(_) => pieces.push(Piece::AnyText),
        }
    }
    pieces
}

fn add(parts: &[Part<'_>], pieces: &mut Written) {
    for part in parts {
        match part {
            Part::Literal(text) | Part::Quoted(text) => {
                pieces.extend(text.chars().map(Piece::Char));
            }
            Part::DoubleQuoted(inner) => add(inner, pieces),
            Part::Glob(_) => pieces.push(Piece::AnyName),
            _ => pieces.push(Piece::AnyText),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands of `text`, `?` for an unknown text and `*` for an unknown name.
    fn found(text: &str) -> Vec<String> {
        let written = |pieces: &Written| {
            let shown = pieces.iter().map(|piece| match piece {
                Piece::Char(c) => *c,
                Piece::AnyText => '?',
                Piece::AnyName => '*',
            });
            shown.collect()
        };
        let commands = commands_in(text).expect("it is readable");
        commands.iter().map(written).collect()
    }

    #[test]
    fn a_command_is_found_behind_what_runs_it() {
        for (text, command) in [
            ("  a\t b ", "a b"),
            ("if true; then A=1 b+=2 /bin/x y; fi", "x y"),
            ("git -C d --no-pager push -f", "git push -f"),
            ("git", "git"),
            ("git -C", "git"),
            ("timeout 5 x", "x"),
            ("env -i A=1 nice -n 5 x y", "x y"),
            ("sudo --unknown value x y", "x y"),
            ("find . -exec rm {} +", "rm {} +"),
            ("bash -lc 'cd x && git -C . push'", "git push"),
            ("sudo --unknown value bash -c 'rm x'", "rm x"),
            ("eval git push", "git push"),
            ("echo \"$(rm x)\"", "rm x"),
            ("git \"$x\" $(y) *.z", "git ? ? *.z"),
            ("g''it p\\ush", "git push"),
            ("./a/b c", "./a/b c"),
            ("A=1 b", "A=1 b"),
        ] {
            let all = found(text);

            assert!(all.iter().any(|own| own == command), "{text}: {all:?}");
        }
    }

    #[test]
    fn a_command_that_starts_nothing_is_one_command() {
        assert_eq!(found("echo rm x"), ["echo rm x", "echo rm x"]);
    }

    #[test]
    fn texts_that_cannot_be_read_are_reported() {
        for text in ["'", "f() { rm x; }", "bash -c '('"] {
            assert_eq!(commands_in(text), Err(Unreadable), "{text}");
        }
        assert_eq!(commands_in(&"env ".repeat(10_000)), Err(Unreadable));
        assert!(commands_in(&"git -C ".repeat(10_000)).is_ok());
    }
}
