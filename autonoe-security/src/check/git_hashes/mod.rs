//! Commands that print hashes of commits, and what reads their lines.
//!
//! A hash consists of hexadecimal digits, so an argument that begins with one is not an option.

mod printed_lines;

use self::printed_lines::filtered;
use super::scope::Scope;
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{
    ArgWord, Assignment, Command, CommandKind, Item, Part, Redirect, RedirectOperator,
    RedirectTarget, Script, SimpleCommand, Span, Text, While,
};

pub(crate) use self::printed_lines::{HashLines, printed_lines, prints_one_line};

/// Returns the lines that a pipeline of `commands` prints.
fn pipeline_lines(commands: &[Command<'_>]) -> Option<HashLines> {
    let (first, filters) = commands.split_first()?;
    let mut lines = printed_lines(&texts(&static_words(first)?))?;
    for filter in filters {
        lines = filtered(lines, &texts(&static_words(filter)?))?;
    }
    Some(lines)
}

fn texts<'t>(words: &'t [Text<'_>]) -> Vec<&'t str> {
    words.iter().map(AsRef::as_ref).collect()
}

/// Returns the words of a simple command that at most discards its errors.
fn static_words<'t>(command: &'t Command<'_>) -> Option<Vec<Text<'t>>> {
    let CommandKind::Simple(simple) = &command.kind else {
        return None;
    };
    let is_plain = simple.assignments.is_empty() && command.redirects.iter().all(hides_errors);
    simple.static_words().filter(|_| is_plain)
}

fn hides_errors(redirect: &Redirect<'_>) -> bool {
    let is_nowhere = matches!(&redirect.target, RedirectTarget::Word(word)
        if word.static_text().as_deref() == Some("/dev/null"));
    is_nowhere && redirect.descriptor == Some(2) && redirect.operator == RedirectOperator::Write
}

/// Returns whether each line of the input of the command at `span` is a hash.
pub(crate) fn are_input_of(scope: &Scope<'_>, span: Span) -> bool {
    if !scope.text().contains("git ") || !scope.reserve_search() {
        return false;
    }
    let mut finder = InputFinder { span, lines: None };
    finder.script(scope.script());
    finder.lines == Some(HashLines::Only)
}

/// Finds the commands that are piped into the one at `span`.
struct InputFinder {
    span: Span,
    lines: Option<HashLines>,
}

impl<'t, 'a: 't> Visitor<'t, 'a> for InputFinder {
    fn item(&mut self, item: &'t Item<'a>) {
        for (_, pipeline) in &item.pipelines {
            let at = pipeline.commands.iter().position(|command| {
                let is_plain = command.redirects.iter().all(|it| !reads(it));
                is_plain && command_is_at(command, self.span)
            });
            if let Some(at) = at {
                self.lines = pipeline_lines(&pipeline.commands[..at]);
            }
        }
        visit::item(self, item);
    }
}

fn command_is_at(command: &Command<'_>, span: Span) -> bool {
    match &command.kind {
        CommandKind::Simple(simple) => simple.words.first().map(ArgWord::span) == Some(span),
        _ => false,
    }
}

fn reads(redirect: &Redirect<'_>) -> bool {
    !matches!(
        redirect.operator,
        RedirectOperator::Write
            | RedirectOperator::Append
            | RedirectOperator::WriteAll
            | RedirectOperator::DuplicateOutput
    ) || redirect.descriptor == Some(0)
}

/// Returns whether the variable that the word at `set_at` sets begins with a hash where it is used:
/// `git log --oneline | while read -r hash subject; do .. "$hash"; done`. `whole` requires that it
/// holds nothing else.
pub(crate) fn are_read_into(scope: &Scope<'_>, set_at: usize, used: Span, whole: bool) -> bool {
    if !scope.text().contains("git ") || !scope.reserve_search() {
        return false;
    }
    let mut finder = LoopFinder {
        set_at,
        used,
        found: None,
    };
    finder.script(scope.script());
    finder
        .found
        .is_some_and(|(lines, is_field)| !whole || is_field || lines == HashLines::Only)
}

/// Finds the loop that reads lines into a variable, from a pipeline or from `< <( .. )`.
struct LoopFinder {
    set_at: usize,
    used: Span,
    /// The lines, and whether the variable gets only their first field.
    found: Option<(HashLines, bool)>,
}

impl LoopFinder {
    fn check(&mut self, repeat: &While<'_>, lines: impl FnOnce() -> Option<HashLines>) {
        let body = repeat.body.span;
        let is_inside = body.start() <= self.used.start() && self.used.end() <= body.end();
        let name = first_name(&repeat.condition, self.set_at).filter(|_| is_inside);
        if let Some(is_field) = name.filter(|_| leaves_input(&repeat.body)) {
            self.found = lines().map(|lines| (lines, is_field));
        }
    }
}

impl<'t, 'a: 't> Visitor<'t, 'a> for LoopFinder {
    fn item(&mut self, item: &'t Item<'a>) {
        for (_, pipeline) in &item.pipelines {
            for (at, command) in pipeline.commands.iter().enumerate() {
                let CommandKind::While(repeat) = &command.kind else {
                    continue;
                };
                match &command.redirects[..] {
                    [] if at > 0 => {
                        self.check(repeat, || pipeline_lines(&pipeline.commands[..at]));
                    }
                    [only] if at == 0 && only.descriptor.is_none() => {
                        self.check(repeat, || substituted(only));
                    }
                    _ => {}
                }
            }
        }
        visit::item(self, item);
    }
}

/// Returns the lines of `< <( .. )`.
fn substituted(redirect: &Redirect<'_>) -> Option<HashLines> {
    let RedirectTarget::Word(word) = &redirect.target else {
        return None;
    };
    let [Part::ProcessSubstitution(inner)] = &word.parts[..] else {
        return None;
    };
    let [item] = &inner.script.items[..] else {
        return None;
    };
    match &item.pipelines[..] {
        [(_, pipeline)] if redirect.operator == RedirectOperator::Read => {
            pipeline_lines(&pipeline.commands)
        }
        _ => None,
    }
}

/// Returns whether a condition is `read -r NAME ..` with the first name at `set_at`, and then
/// whether this name gets only the first field of a line.
fn first_name(condition: &Script<'_>, set_at: usize) -> Option<bool> {
    let command = condition.only_command()?;
    let CommandKind::Simple(simple) = &command.kind else {
        return None;
    };
    let (name, names) = names_of_read(simple)?;
    let is_plain = command.redirects.is_empty() && name.span().start() == set_at;
    let has_own_fields = !simple.assignments.is_empty();
    is_plain.then_some(names > 1 && !has_own_fields)
}

/// Subcommands of git that read no input.
const SILENT: &[&str] = words!(
    "branch cherry describe diff diff-tree grep log ls-tree merge-base name-rev rev-parse show",
    "status tag",
);

/// Returns whether a redirection reads a file, or text of the script. A descriptor, or a file that
/// stands for one, may be the input of the loop.
fn is_own_input(redirect: &Redirect<'_>) -> bool {
    let is_file = || match &redirect.target {
        RedirectTarget::Word(word) => word.static_text().is_some_and(|file| {
            let is_device = ["/dev", "/proc"].iter().any(|it| file.contains(it));
            !is_device || file == "/dev/null"
        }),
        RedirectTarget::HereDocument(_) => false,
    };
    matches!(redirect.descriptor, None | Some(0))
        && match redirect.operator {
            RedirectOperator::HereDocument | RedirectOperator::HereString => true,
            RedirectOperator::Read => is_file(),
            _ => false,
        }
}

/// Returns whether no command of a loop reads a part of a line, so that the next line would begin
/// in the middle.
fn leaves_input(body: &Script<'_>) -> bool {
    struct Readers(bool);
    impl<'t, 'a: 't> Visitor<'t, 'a> for Readers {
        fn command(&mut self, command: &'t Command<'a>) {
            let mut inputs = command.redirects.iter().filter(|it| reads(it));
            self.0 |= inputs.any(|it| !is_own_input(it));
            visit::command(self, command);
        }

        fn item(&mut self, item: &'t Item<'a>) {
            for (_, pipeline) in &item.pipelines {
                let first = pipeline.commands.first();
                self.0 |= first.is_some_and(|command| match &command.kind {
                    CommandKind::Simple(simple) => {
                        let has_input = command.redirects.iter().any(reads);
                        !has_input && !is_silent(simple)
                    }
                    _ => false,
                });
            }
            visit::item(self, item);
        }
    }
    let mut readers = Readers(false);
    readers.script(body);
    !readers.0
}

/// Returns whether a command reads no input.
fn is_silent(simple: &SimpleCommand<'_>) -> bool {
    let texts: Vec<Option<Text<'_>>> = simple.words.iter().map(ArgWord::static_text).collect();
    let names_input = |text: &Option<Text<'_>>| {
        let text = text.as_deref();
        text.is_some_and(|text| text == "-" || text.starts_with("--stdin") || text == "--no-index")
    };
    let word = |at: usize| texts.get(at).and_then(Option::as_deref);
    match word(0) {
        None => texts.is_empty(),
        Some("git") => {
            word(1).is_some_and(|name| SILENT.contains(&name)) && !texts.iter().any(names_input)
        }
        Some(name) => words!(": [ break continue echo exit printf test true").contains(&name),
    }
}

/// Returns the first name after `read -r`, and the number of names.
fn names_of_read<'t, 's>(simple: &'t SimpleCommand<'s>) -> Option<(&'t ArgWord<'s>, usize)> {
    let sets_fields = |assignment: &Assignment<'_>| assignment.name == "IFS";
    if !simple.assignments.iter().all(sets_fields) {
        return None;
    }
    let mut words = simple.words.iter();
    if words.next()?.static_text()? != "read" {
        return None;
    }
    let names: Vec<&ArgWord<'_>> = words
        .skip_while(|word| word.static_text().as_deref() == Some("-r"))
        .collect();
    let is_name = |word: &&ArgWord<'_>| {
        let text = word.static_text();
        text.is_some_and(|text| !text.starts_with('-'))
    };
    let first = *names.first()?;
    names.iter().all(is_name).then_some((first, names.len()))
}
