//! Lists the commands that a shell command runs, as texts for pattern matching.

use autonoe_security::InnerCommands;
use autonoe_security::syntax::{ArgWord, Part, SimpleCommand, SyntaxError, Text, commands, parse};

use super::wildcard::Piece;

/// Options of git, before its subcommand, that take the next word as their value.
const GIT_OPTIONS: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Maximum number of words in a command that starts others.
const MAX_WORDS: usize = 100;

/// Maximum nesting depth of scripts.
const MAX_DEPTH: usize = 8;

/// A command that may run: its words, separated by single blanks.
pub(super) type RenderedCommand = Vec<Piece>;

/// Returns every command that `text` may run, in every form that a pattern may have.
///
/// A command that starts another one may start any suffix of its words, because unknown options may
/// take values.
///
/// # Errors
///
/// The text cannot be parsed, or it contains too many commands.
pub(super) fn commands_in(text: &str) -> Result<Vec<RenderedCommand>, CommandListError> {
    let mut found = Vec::new();
    read_script(text, 0, &mut found)?;
    Ok(found)
}

/// Error: the commands of a shell command cannot be listed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandListError;

impl From<SyntaxError> for CommandListError {
    fn from(_: SyntaxError) -> Self {
        Self
    }
}

fn read_script(
    text: &str,
    depth: usize,
    found: &mut Vec<RenderedCommand>,
) -> Result<(), CommandListError> {
    if depth > MAX_DEPTH {
        return Err(CommandListError);
    }
    let script = parse(text)?;
    for command in commands(&script) {
        // The literal text, for patterns with a directory or an assignment.
        let written = text.get(command.span.range()).unwrap_or_default();
        found.push(written.chars().map(Piece::Char).collect());
        read_command(command, depth, found)?;
    }
    Ok(())
}

fn read_command(
    command: &SimpleCommand<'_>,
    depth: usize,
    found: &mut Vec<RenderedCommand>,
) -> Result<(), CommandListError> {
    let words: Vec<&ArgWord<'_>> = command.words.iter().collect();
    let texts: Vec<Option<Text<'_>>> = words.iter().map(|word| word.static_text()).collect();
    found.push(render(&words, &texts));
    let inner = InnerCommands::read(&texts);
    if inner.is_empty() {
        return Ok(());
    }
    if words.len() > MAX_WORDS {
        return Err(CommandListError);
    }
    for at in 1..words.len() {
        // An expanded name can be any command, so it only counts where a command certainly starts.
        let is_name = inner.commands.iter().any(|range| range.start == at)
            || (inner.is_uncertain && inner.commands.is_empty());
        if texts[at].is_some() || is_name {
            found.push(render(&words[at..], &texts[at..]));
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
    found: &mut Vec<RenderedCommand>,
) -> Result<(), CommandListError> {
    let texts: Option<Vec<&str>> = texts.iter().map(Option::as_deref).collect();
    match texts {
        Some(texts) => read_script(&texts.join(" "), depth + 1, found),
        None => Err(CommandListError),
    }
}

/// Renders a command without the directory of its name and without global options of git.
fn render(words: &[&ArgWord<'_>], texts: &[Option<Text<'_>>]) -> RenderedCommand {
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
            ArgWord::Word(word) => push_parts(&word.parts, &mut pieces),
            ArgWord::Array(_) => pieces.push(Piece::AnyText),
        }
    }
    pieces
}

fn push_parts(parts: &[Part<'_>], pieces: &mut RenderedCommand) {
    for part in parts {
        match part {
            Part::Literal(text) | Part::Quoted(text) => {
                pieces.extend(text.chars().map(Piece::Char));
            }
            Part::DoubleQuoted(inner) => push_parts(inner, pieces),
            Part::Glob(_) => pieces.push(Piece::AnyName),
            _ => pieces.push(Piece::AnyText),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands of `text`, with `?` for an unknown text and `*` for an unknown name.
    fn rendered_commands(text: &str) -> Vec<String> {
        let render = |pieces: &RenderedCommand| {
            let chars = pieces.iter().map(|piece| match piece {
                Piece::Char(c) => *c,
                Piece::AnyText => '?',
                Piece::AnyName => '*',
            });
            chars.collect()
        };
        let commands = commands_in(text).expect("it is readable");
        commands.iter().map(render).collect()
    }

    #[test]
    fn a_command_is_found_inside_its_wrappers() {
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
            let all = rendered_commands(text);

            assert!(all.iter().any(|own| own == command), "{text}: {all:?}");
        }
    }

    #[test]
    fn a_command_that_starts_nothing_is_one_command() {
        assert_eq!(rendered_commands("echo rm x"), ["echo rm x", "echo rm x"]);
    }

    #[test]
    fn unparsable_texts_are_reported() {
        for text in ["'", "f() { rm x; }", "bash -c '('"] {
            assert_eq!(commands_in(text), Err(CommandListError), "{text}");
        }
        assert_eq!(commands_in(&"env ".repeat(10_000)), Err(CommandListError));
        assert!(commands_in(&"git -C ".repeat(10_000)).is_ok());
    }
}
