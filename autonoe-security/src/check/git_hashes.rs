//! `git log` and `git rev-list` that print hashes of commits, in a few exact forms.
//!
//! A hash is one word that does not begin with a dash, so it cannot become an option.

use super::scope::Scope;
use crate::check::text::is_number;
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{
    Command, CommandKind, Item, Redirect, RedirectOperator, Script, ShellPipeline, SimpleCommand,
    Span, Text,
};

/// The lines that a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashLines {
    /// At most one line, which is a hash.
    One,
    /// Each line is a hash.
    Only,
    /// Each line begins with a hash.
    First,
}

/// Returns the lines that a script prints.
pub(crate) fn script_lines(script: &Script<'_>) -> Option<HashLines> {
    match &script.items[..] {
        [item] => match &item.pipelines[..] {
            [(_, only)] if !only.pipes_errors => pipeline_lines(&only.commands),
            _ => None,
        },
        _ => None,
    }
}

fn pipeline_lines(commands: &[Command<'_>]) -> Option<HashLines> {
    let (first, filters) = commands.split_first()?;
    let lines = in_words(first, printed_lines)?;
    filters.iter().try_fold(lines, |lines, filter| {
        in_words(filter, |words| filtered(lines, words))
    })
}

/// Reads the words of a simple command with known text that at most discards its errors.
fn in_words<T>(command: &Command<'_>, read: impl FnOnce(&[&str]) -> Option<T>) -> Option<T> {
    let CommandKind::Simple(simple) = &command.kind else {
        return None;
    };
    let is_plain =
        simple.assignments.is_empty() && command.redirects.iter().all(Redirect::discards_errors);
    let words = simple.static_words().filter(|_| is_plain)?;
    read(&Vec::from_iter(words.iter().map(AsRef::as_ref)))
}

fn printed_lines(words: &[&str]) -> Option<HashLines> {
    let (["git", "--no-pager", args @ ..] | ["git", args @ ..]) = words else {
        return None;
    };
    match args {
        ["rev-list", args @ ..] => commit_lines(args, HashLines::Only),
        ["log", args @ ..] => {
            let options = args.split(|arg| *arg == "--").next()?;
            let mut formats = options.iter().filter_map(|arg| format_lines(arg));
            let (Some(lines), None) = (formats.next(), formats.next()) else {
                return None;
            };
            let mut others = options.to_vec();
            others.retain(|arg| format_lines(arg).is_none());
            commit_lines(&others, lines)
        }
        _ => None,
    }
}

/// Returns the lines of an option of `git log` that chooses the format.
fn format_lines(option: &str) -> Option<HashLines> {
    let format = option
        .strip_prefix("--format=")
        .or_else(|| option.strip_prefix("--pretty=format:"));
    match (format, option) {
        (Some("%h" | "%H"), _) => Some(HashLines::Only),
        (None, "--oneline") => Some(HashLines::First),
        (Some(format), _) => {
            let rest = format.strip_prefix("%h ").or(format.strip_prefix("%H "))?;
            prints_one_line(rest).then_some(HashLines::First)
        }
        _ => None,
    }
}

/// Returns whether a part of a format prints no line feed.
fn prints_one_line(format: &str) -> bool {
    let placeholders = words!("s an ae ad ar as cn cd cr cs d D");
    let mut pieces = format.split('%');
    let is_start = pieces.next().is_some_and(|text| !text.contains('\n'));
    is_start
        && pieces.all(|piece| {
            let is_known = placeholders.iter().any(|it| piece.starts_with(it));
            is_known && !piece.contains('\n')
        })
}

/// Returns whether a word names a commit or a range. It cannot be an option.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Reads the arguments of `git log` and `git rev-list` that only choose commits.
fn commit_lines(args: &[&str], lines: HashLines) -> Option<HashLines> {
    let mut limits = Vec::new();
    let mut is_counted = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let digits = arg
            .strip_prefix("--max-count=")
            .or_else(|| arg.strip_prefix("-n"))
            .or_else(|| arg.strip_prefix('-'));
        match *arg {
            "--" => break,
            "-n" => limits.push(*args.next().filter(|count| is_number(count))?),
            "--no-merges" | "--reverse" | "--all" => {}
            "--count" if lines == HashLines::Only => is_counted = true,
            arg if is_name(arg) => {}
            _ => limits.push(digits.filter(|digits| is_number(digits))?),
        }
    }
    let is_one = is_counted || limits == ["1"];
    let is_only = lines == HashLines::Only;
    Some(if is_one && is_only {
        HashLines::One
    } else {
        lines
    })
}

/// Returns the lines that a filter passes on.
fn filtered(lines: HashLines, words: &[&str]) -> Option<HashLines> {
    match words {
        ["tac" | "head" | "tail"] => Some(lines),
        ["head" | "tail", "-n", count] if is_number(count) => Some(lines),
        ["head" | "tail", count] => {
            let count = count.strip_prefix('-')?;
            let count = count.strip_prefix('n').unwrap_or(count);
            is_number(count).then_some(lines)
        }
        ["grep", options @ .., pattern] if !pattern.starts_with('-') => {
            let is_plain = |option: &&str| matches!(*option, "-i" | "-v" | "-E" | "-F" | "-w");
            options.iter().all(is_plain).then_some(lines)
        }
        ["awk", "{print $1}"] | ["cut", "-d ", "-f1"] | ["cut", "-d", " ", "-f1"] => {
            let is_one = lines == HashLines::One;
            Some(if is_one { lines } else { HashLines::Only })
        }
        _ => None,
    }
}

/// Returns whether the variable that the word at `set_at` sets is a hash where it is used:
/// `git log --oneline | while read -r hash subject; do .. "$hash"; done`.
pub(crate) fn are_read_into(scope: &Scope<'_>, set_at: usize, used: Span) -> bool {
    struct Loops(usize, Span, bool);
    impl<'t, 'a: 't> Visitor<'t, 'a> for Loops {
        fn item(&mut self, item: &'t Item<'a>) {
            let mut pipelines = item.pipelines.iter();
            self.2 |= pipelines.any(|(_, it)| reads_hashes(it, self.0, self.1).is_some());
            visit::item(self, item);
        }
    }
    if !scope.text().contains("git ") || !scope.reserve_search() {
        return false;
    }
    let mut loops = Loops(set_at, used, false);
    loops.script(scope.script());
    loops.2
}

fn reads_hashes(pipeline: &ShellPipeline<'_>, set_at: usize, used: Span) -> Option<()> {
    let (last, before) = pipeline.commands.split_last()?;
    let CommandKind::While(repeat) = &last.kind else {
        return None;
    };
    let read = repeat.condition.only_command()?;
    let (at, names) = in_words(read, |words| match words {
        ["read", "-r", names @ ..] => Some((2, names.len())),
        ["read", names @ ..] => Some((1, names.len())),
        _ => None,
    })?;
    let body = repeat.body.span;
    let is_plain = last.redirects.is_empty() && !pipeline.pipes_errors;
    let is_inside = body.start() <= used.start() && used.end() <= body.end();
    let is_first = matches!(&read.kind, CommandKind::Simple(simple)
        if simple.words.get(at).is_some_and(|name| name.span().start() == set_at));
    if !is_plain || !is_inside || !is_first || !leaves_input(&repeat.body) {
        return None;
    }
    let lines = pipeline_lines(before)?;
    (names > 1 || lines != HashLines::First).then_some(())
}

/// Returns whether no command of a loop reads a part of its input, so that the next line would begin
/// in the middle of one.
fn leaves_input(body: &Script<'_>) -> bool {
    use RedirectOperator::{Append, DuplicateOutput, Write};
    struct Readers(bool);
    impl<'t, 'a: 't> Visitor<'t, 'a> for Readers {
        fn command(&mut self, command: &'t Command<'a>) {
            let mut redirects = command.redirects.iter();
            let writes =
                |it: &Redirect<'_>| matches!(it.operator, Write | Append | DuplicateOutput);
            self.0 |= !redirects.all(writes);
            visit::command(self, command);
        }

        fn item(&mut self, item: &'t Item<'a>) {
            let firsts = item.pipelines.iter().map(|(_, it)| it.commands.first());
            self.0 |= firsts.flatten().any(|first| match &first.kind {
                CommandKind::Simple(simple) => !is_silent(simple),
                _ => false,
            });
            visit::item(self, item);
        }
    }
    let mut readers = Readers(false);
    readers.script(body);
    !readers.0
}

/// Returns whether a command reads no input.
fn is_silent(simple: &SimpleCommand<'_>) -> bool {
    let texts = simple
        .words
        .iter()
        .map(|word| word.static_text().unwrap_or_default());
    let texts: Vec<Text<'_>> = texts.collect();
    match texts.iter().map(AsRef::as_ref).collect::<Vec<_>>()[..] {
        []
        | [
            ":" | "[" | "break" | "continue" | "echo" | "printf" | "test" | "true",
            ..,
        ] => true,
        [
            "git",
            "show" | "diff" | "diff-tree" | "log" | "branch",
            ref args @ ..,
        ] => !args
            .iter()
            .any(|arg| *arg == "-" || arg.starts_with("--stdin")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_few_forms_print_hashes() {
        for (text, expected) in [
            (
                "git log --oneline -5 main..HEAD -- -p",
                Some(HashLines::First),
            ),
            ("git --no-pager log --format=%H -n 3", Some(HashLines::Only)),
            ("git log --pretty=format:%h -1 -2", Some(HashLines::Only)),
            ("git log --format=%h --max-count=1", Some(HashLines::One)),
            ("git rev-list --count HEAD", Some(HashLines::One)),
            ("git log --oneline -p", None),
            ("git log --until --format=%h", None),
            ("git log -- --format=%h", None),
            ("git log --format=%h -n", None),
            ("git rev-list --objects HEAD", None),
            ("git -c x=y log --oneline", None),
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(printed_lines(&words), expected, "{text}");
        }
    }
}
