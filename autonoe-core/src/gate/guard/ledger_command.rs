//! Detection of shell commands that could change something in `.autonoe`.

use std::collections::HashSet;

use autonoe_security::InnerCommands;
use autonoe_security::syntax::visit::{self, Visitor};
use autonoe_security::syntax::{
    ArgWord, AssignedValue, Assignment, Command, CommandKind, For, Item, Operation, Parameter,
    Part, Redirect, RedirectOperator, RedirectTarget, Script, ShellPipeline, SimpleCommand,
    Substitute, SyntaxError, Word, parse,
};

use super::name_spelling::{has_glob, parts_touch_autonoe};
use super::reading_command::{naming_words, only_reads, parse_script, static_texts};

/// Commands that redefine later commands, or run text that may name anything.
const REDEFINING: [&str; 9] = [
    "alias", "enable", "eval", "exec", "hash", "source", "trap", "unalias", ".",
];

/// Variables that determine which programs run.
const REDEFINING_VARIABLES: [&str; 3] = ["BASH_ALIASES", "BASH_CMDS", "PATH"];

/// Variables that may be set for a command that reads the ledger.
const HARMLESS_VARIABLES: [&str; 7] = [
    "CI",
    "COLUMNS",
    "GIT_OPTIONAL_LOCKS",
    "LANG",
    "LC_ALL",
    "NO_COLOR",
    "TZ",
];

/// Maximum number of passes for tracing variables through each other.
const MAX_ROUNDS: usize = 8;

/// Maximum nesting depth of scripts.
const MAX_DEPTH: usize = 8;

/// Returns whether `command` could change something in `.autonoe`.
///
/// It could if any part of it touches that name, unless only read-only commands receive it. A part
/// touches the name if it contains the name or could expand to it. A permitted program can
/// construct the name by itself; only the sandbox prevents that.
///
/// # Errors
///
/// The parser does not understand the command, so it could do anything.
pub(super) fn could_change_autonoe(command: &str) -> Result<bool, SyntaxError> {
    let script = parse(command)?;
    let bare = command.replace(['\'', '"', '\\'], "").to_ascii_lowercase();
    // With these options, a bare `*` matches names that start with a dot.
    let matches_dots = ["dotglob", "globdots", "glob_dots", "globignore"]
        .iter()
        .any(|option| bare.contains(option));
    let ledger = Ledger {
        text: command,
        matches_dots,
        variables: HashSet::new(),
        depth: 0,
    };
    Ok(ledger.could_be_changed_by(&script))
}

/// Context for the analysis of a script.
struct Ledger<'c> {
    /// Source text of the script.
    text: &'c str,
    /// Whether wildcards match names that start with a dot.
    matches_dots: bool,
    /// Variables whose values could name the ledger.
    variables: HashSet<String>,
    /// Number of enclosing scripts.
    depth: usize,
}

impl Ledger<'_> {
    fn could_be_changed_by(mut self, script: &Script<'_>) -> bool {
        if !self.trace_variables(script) {
            return true;
        }
        if !self.is_touched_by(|touch| touch.script(script)) {
            return false;
        }
        // `$_` is the last argument of the previous command.
        self.variables.insert("_".to_owned());
        let mut changes = Changes {
            ledger: &self,
            found: false,
        };
        changes.script(script);
        changes.found
    }

    /// Collects the variables that could name the ledger. Returns `false` if there are too many
    /// rounds.
    fn trace_variables(&mut self, script: &Script<'_>) -> bool {
        for _ in 0..MAX_ROUNDS {
            let mut values = Values {
                ledger: &*self,
                found: Vec::new(),
            };
            values.script(script);
            let found = values.found;
            let before = self.variables.len();
            self.variables.extend(found);
            if self.variables.len() == before {
                return true;
            }
        }
        false
    }

    /// Returns whether anything that `walk` visits touches the ledger.
    fn is_touched_by(&self, walk: impl FnOnce(&mut Touch<'_>)) -> bool {
        let mut touch = Touch {
            ledger: self,
            found: false,
        };
        walk(&mut touch);
        touch.found
    }

    fn is_touched_by_word(&self, word: &ArgWord<'_>) -> bool {
        self.is_touched_by(|touch| match word {
            ArgWord::Word(word) => touch.word(word),
            ArgWord::Array(assignment) => touch.assignment(assignment),
        })
    }

    fn is_touched_by_parts(&self, parts: &[Part<'_>]) -> bool {
        parts_touch_autonoe(parts) || (self.matches_dots && has_glob(parts))
    }

    /// Returns whether the words of a command, its name first, could change the ledger.
    fn could_be_changed_by_words(&self, words: &[&ArgWord<'_>], depth: usize) -> bool {
        let texts = static_texts(words);
        let name = texts.first().and_then(Option::as_deref);
        if name.is_some_and(|name| REDEFINING.contains(&name)) {
            return true;
        }
        let inner = InnerCommands::read(&texts);
        if inner.is_empty() || matches!(name, Some("find" | "fd" | "fdfind")) {
            let naming = naming_words(words);
            return naming.iter().any(|word| self.is_touched_by_word(word)) && !only_reads(words);
        }
        if depth == MAX_DEPTH {
            return true;
        }
        // If the started command is uncertain, every word may be a file that it changes.
        let is_own = |at: &usize| {
            let mut ranges = inner.commands.iter().chain(&inner.scripts);
            inner.is_uncertain || !ranges.any(|range| range.contains(at))
        };
        let mut own = (0..words.len()).filter(is_own);
        own.any(|at| self.is_touched_by_word(words[at]))
            || inner
                .commands
                .iter()
                .any(|range| self.could_be_changed_by_words(&words[range.clone()], depth + 1))
            || inner.scripts.iter().any(|range| {
                let touched = words[range.clone()]
                    .iter()
                    .any(|it| self.is_touched_by_word(it));
                match parse_script(&texts, range.clone()) {
                    Some(script) => self.could_be_changed_inside(&script),
                    None => touched,
                }
            })
    }

    /// Checks a script that a command of this script runs, with the variables that are set here.
    fn could_be_changed_inside(&self, script: &Script<'_>) -> bool {
        let inside = Ledger {
            text: "",
            matches_dots: self.matches_dots,
            variables: self.variables.clone(),
            depth: self.depth + 1,
        };
        inside.depth > MAX_DEPTH || inside.could_be_changed_by(script)
    }
}

/// Finds anything that mentions the ledger, could expand to its name, or expands a variable that
/// names it.
struct Touch<'l> {
    ledger: &'l Ledger<'l>,
    found: bool,
}

impl<'t, 'a: 't> Visitor<'t, 'a> for Touch<'_> {
    fn simple(&mut self, simple: &'t SimpleCommand<'a>) {
        for assignment in &simple.assignments {
            self.assignment(assignment);
        }
        for word in naming_words(&simple.words.iter().collect::<Vec<_>>()) {
            match word {
                ArgWord::Word(word) => self.word(word),
                ArgWord::Array(assignment) => self.assignment(assignment),
            }
        }
    }

    fn word(&mut self, word: &'t Word<'a>) {
        self.found |= self.ledger.is_touched_by_parts(&word.parts);
        // `.autonoe\x` is a single name here, but a path for a program with Windows paths.
        let raw = self.ledger.text.get(word.span.range()).unwrap_or_default();
        if raw.contains('\\') && is_written_out(&word.parts) {
            let parts = [Part::Quoted(raw.into())];
            self.found |= parts_touch_autonoe(&parts);
        }
        visit::word(self, word);
    }

    fn redirect(&mut self, redirect: &'t Redirect<'a>) {
        if let RedirectTarget::HereDocument(document) = &redirect.target {
            self.found |= self.ledger.is_touched_by_parts(&document.body);
        }
        visit::redirect(self, redirect);
    }

    fn parameter(&mut self, parameter: &'t Parameter<'a>) {
        self.found |= self.ledger.variables.contains(parameter.name.as_ref());
        match &parameter.operation {
            // A pattern is compared with the value and does not become part of it.
            Operation::Trim { pattern } | Operation::ChangeCase { pattern } => {
                visit::word(self, pattern);
            }
            Operation::Replace {
                pattern,
                replacement,
            } => {
                visit::word(self, pattern);
                if let Some(replacement) = replacement {
                    self.word(replacement);
                }
            }
            _ => visit::parameter(self, parameter),
        }
    }
}

/// Finds the variables that are set to a value that touches the ledger.
struct Values<'l> {
    ledger: &'l Ledger<'l>,
    found: Vec<String>,
}

impl<'t, 'a: 't> Visitor<'t, 'a> for Values<'_> {
    fn assignment(&mut self, assignment: &'t Assignment<'a>) {
        let touched = match &assignment.value {
            AssignedValue::Word(word) => self.ledger.is_touched_by(|touch| touch.word(word)),
            AssignedValue::Array(elements) => self.ledger.is_touched_by(|touch| {
                for element in elements {
                    touch.word(&element.value);
                }
            }),
        };
        if touched {
            self.found.push(assignment.name.to_string());
        }
        visit::assignment(self, assignment);
    }

    fn each(&mut self, each: &'t For<'a>) {
        let mut words = each.words.iter().flatten();
        if words.any(|word| self.ledger.is_touched_by(|touch| touch.word(word))) {
            self.found.push(each.variable.to_string());
        }
        visit::each(self, each);
    }

    fn parameter(&mut self, parameter: &'t Parameter<'a>) {
        if let Operation::Substitute { when, word, .. } = &parameter.operation
            && *when == Substitute::Assign
            && self.ledger.is_touched_by(|touch| touch.word(word))
        {
            self.found.push(parameter.name.to_string());
        }
        visit::parameter(self, parameter);
    }
}

/// Finds commands that could change the ledger, in a script that touches it.
struct Changes<'l> {
    ledger: &'l Ledger<'l>,
    found: bool,
}

impl Changes<'_> {
    fn simple_command(&mut self, simple: &SimpleCommand<'_>, redirects: &[Redirect<'_>]) {
        let words: Vec<&ArgWord<'_>> = simple.words.iter().collect();
        let variables = || simple.assignments.iter().map(|it| it.name.as_ref());
        self.found |= variables().any(|name| REDEFINING_VARIABLES.contains(&name));
        if words.is_empty() {
            return;
        }
        self.found |= self.ledger.could_be_changed_by_words(&words, 0);
        let ledger = self.ledger;
        let is_set = simple
            .assignments
            .iter()
            .any(|it| ledger.is_touched_by(|touch| touch.assignment(it)));
        let mut inputs = redirects.iter().filter(|it| !is_output(it));
        let is_input = inputs.any(|it| ledger.is_touched_by(|touch| touch.redirect(it)));
        let is_named = naming_words(&words)
            .iter()
            .any(|word| ledger.is_touched_by_word(word));
        // The program may run the value, or use it as a path.
        self.found |= is_set;
        if is_named || is_input {
            self.found |= variables().any(|name| !is_harmless(name, simple));
        }
    }

    /// Checks the redirects of a command that touches the ledger.
    fn redirects(&mut self, command: &Command<'_>) {
        let ledger = self.ledger;
        let mut outputs = command.redirects.iter().filter(|it| is_output(it));
        self.found |= outputs.any(|it| !is_static(it))
            && ledger.is_touched_by(|touch| touch.command(command));
        let mut inputs = command.redirects.iter().filter(|it| !is_output(it));
        self.found |=
            inputs.any(|it| ledger.is_touched_by(|touch| touch.redirect(it))) && !all_read(command);
    }

    /// Checks the data flow in a pipeline from a command that touches the ledger to the commands
    /// after it.
    fn pipeline(&mut self, pipeline: &ShellPipeline<'_>) {
        let mut flows = false;
        for command in &pipeline.commands {
            self.found |= flows && !all_read(command);
            flows |= self.ledger.is_touched_by(|touch| touch.command(command));
        }
    }
}

impl<'t, 'a: 't> Visitor<'t, 'a> for Changes<'_> {
    fn item(&mut self, item: &'t Item<'a>) {
        for (_, pipeline) in &item.pipelines {
            self.pipeline(pipeline);
        }
        visit::item(self, item);
    }

    fn command(&mut self, command: &'t Command<'a>) {
        if let CommandKind::Simple(simple) = &command.kind {
            self.simple_command(simple, &command.redirects);
        }
        self.redirects(command);
        visit::command(self, command);
    }

    fn redirect(&mut self, redirect: &'t Redirect<'a>) {
        self.found |=
            is_output(redirect) && self.ledger.is_touched_by(|touch| touch.redirect(redirect));
        visit::redirect(self, redirect);
    }
}

/// Returns whether every simple command in `command` only reads, or copies its input to files that
/// it names.
fn all_read(command: &Command<'_>) -> bool {
    struct Reads(bool);
    impl<'t, 'a: 't> Visitor<'t, 'a> for Reads {
        fn simple(&mut self, simple: &'t SimpleCommand<'a>) {
            let words: Vec<&ArgWord<'_>> = simple.words.iter().collect();
            let is_tee = words.first().and_then(|name| name.static_text());
            self.0 &= only_reads(&words) || is_tee.is_some_and(|name| name == "tee");
            visit::simple(self, simple);
        }
    }
    let mut reads = Reads(true);
    reads.command(command);
    reads.0
}

fn is_harmless(name: &str, simple: &SimpleCommand<'_>) -> bool {
    let is_cat = simple.assignments.iter().any(|it| {
        let AssignedValue::Word(word) = &it.value else {
            return false;
        };
        it.name == name && word.static_text().is_some_and(|text| text == "cat")
    });
    HARMLESS_VARIABLES.contains(&name) || (is_cat && ["PAGER", "GIT_PAGER"].contains(&name))
}

/// Returns whether a word consists of literal text and wildcards only.
fn is_written_out(parts: &[Part<'_>]) -> bool {
    let is_text =
        |part: &Part<'_>| matches!(part, Part::Literal(_) | Part::Quoted(_) | Part::Glob(_));
    parts.iter().all(is_text)
}

fn is_output(redirect: &Redirect<'_>) -> bool {
    match redirect.operator {
        RedirectOperator::Read
        | RedirectOperator::DuplicateInput
        | RedirectOperator::HereDocument
        | RedirectOperator::HereString => false,
        RedirectOperator::Write
        | RedirectOperator::Clobber
        | RedirectOperator::Append
        | RedirectOperator::ReadWrite
        | RedirectOperator::DuplicateOutput
        | RedirectOperator::WriteAll
        | RedirectOperator::AppendAll => true,
    }
}

fn is_static(redirect: &Redirect<'_>) -> bool {
    match &redirect.target {
        RedirectTarget::Word(word) => word.static_text().is_some(),
        RedirectTarget::HereDocument(_) => false,
    }
}

#[cfg(test)]
mod tests;
