//! What a script does to its variables, anywhere in it.

use std::cell::Cell;
use std::collections::HashMap;

use crate::syntax::{
    ArgWord, Arithmetic, ArithmeticToken, ArrayElement, AssignedValue, Assignment, Brace, Command,
    CommandKind, Condition, Item, Operation, Parameter, Part, Redirect, RedirectTarget, Runs,
    Script, SimpleCommand, Subscript, Substitute, Word,
};

/// Every variable that a script sets, and to what.
///
/// Order and control flow do not count: what holds of a variable must hold of
/// all that it is ever set to.
#[derive(Debug, Default)]
pub(crate) struct Survey<'s> {
    variables: HashMap<&'s str, Variable<'s>>,
    /// Patterns that match nothing vanish, because of `shopt -s nullglob`.
    pub(crate) drops_patterns: bool,
    /// While looking: only plain assignments have been seen.
    is_sure: bool,
}

/// What a script does to one variable.
#[derive(Debug, Default)]
pub(crate) struct Variable<'s> {
    /// What it is set to, in the order of the text.
    pub(crate) given: Vec<Given<'s>>,
    /// It is an array somewhere.
    pub(crate) is_array: bool,
    /// It is named by a declaration without a value, or unset.
    pub(crate) is_declared: bool,
    /// From where on it is an associative array for sure.
    pub(crate) associative_from: Option<usize>,
    /// It is unset somewhere.
    pub(crate) is_unset: bool,
    /// Whether it is always a number, once somebody has asked.
    pub(crate) is_number: Memo,
    /// Whether it can never be taken for an option in quotes, once somebody has asked.
    pub(crate) is_no_option_quoted: Memo,
    /// The same without quotes.
    pub(crate) is_no_option_split: Memo,
}

/// An answer that is worked out once, so that asking often costs little.
#[derive(Debug, Default)]
pub(crate) struct Memo(Cell<Option<bool>>);

impl Memo {
    /// Returns the answer. While it is being worked out it is no.
    pub(crate) fn or_find(&self, find: impl FnOnce() -> bool) -> bool {
        if let Some(known) = self.0.get() {
            return known;
        }
        self.0.set(Some(false));
        let found = find();
        self.0.set(Some(found));
        found
    }
}

/// One way in which a variable is set.
#[derive(Debug)]
pub(crate) struct Given<'s> {
    pub(crate) value: Value<'s>,
    pub(crate) stands: Stands,
    /// Nothing stands in front of it that could fail and take it along.
    pub(crate) is_sure: bool,
    /// Where in the text.
    pub(crate) at: usize,
}

/// What a variable is set to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'s> {
    /// A string: `head`, which is literal, and then parts.
    String { head: &'s str, rest: &'s [Part<'s>] },
    /// One of the words behind `in`.
    OneOf(&'s [Word<'s>]),
    /// An array.
    Array(&'s [ArrayElement<'s>]),
    /// The result of arithmetic.
    Number,
    /// Something that the text does not tell.
    Unknown,
}

/// Where an assignment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Alone, at the top level, first in its item: it takes effect for all that follows.
    AtTop,
    Elsewhere,
}

impl<'s> Survey<'s> {
    /// Looks through a whole script.
    pub(crate) fn of(script: &'s Script<'s>) -> Self {
        let mut survey = Self {
            is_sure: true,
            ..Self::default()
        };
        for item in &script.items {
            survey.item(item, Stands::AtTop);
            survey.is_sure &= is_plain_assignment(item);
        }
        survey
    }

    /// Returns what the script does to `name`; `None` if it never sets it.
    pub(crate) fn variable(&self, name: &str) -> Option<&Variable<'s>> {
        self.variables.get(name)
    }

    fn set(&mut self, name: &'s str, at: usize, value: Value<'s>, stands: Stands) {
        // The shell sets these by itself as well.
        let value = if is_magic(name) {
            Value::Unknown
        } else {
            value
        };
        let is_sure = self.is_sure;
        let variable = self.variables.entry(name).or_default();
        variable.is_array |= matches!(value, Value::Array(_));
        variable.given.push(Given {
            value,
            stands,
            is_sure,
            at,
        });
    }

    fn script(&mut self, script: &'s Script<'s>) {
        for item in &script.items {
            self.item(item, Stands::Elsewhere);
        }
    }

    fn item(&mut self, item: &'s Item<'s>, stands: Stands) {
        for (number, (_, pipeline)) in item.pipelines.iter().enumerate() {
            let is_first = number == 0 && item.runs == Runs::InOrder;
            let is_alone = pipeline.commands.len() == 1;
            for command in &pipeline.commands {
                let stands = match is_first && is_alone {
                    true => stands,
                    false => Stands::Elsewhere,
                };
                self.command(command, stands);
            }
        }
    }

    fn command(&mut self, command: &'s Command<'s>, stands: Stands) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, stands),
            CommandKind::Subshell(script) | CommandKind::Group(script) => self.script(script),
            CommandKind::If(choice) => {
                for branch in &choice.branches {
                    self.script(&branch.condition);
                    self.script(&branch.body);
                }
                if let Some(script) = &choice.otherwise {
                    self.script(script);
                }
            }
            CommandKind::While(repeat) => {
                self.script(&repeat.condition);
                self.script(&repeat.body);
            }
            CommandKind::For(each) => {
                let words = each.words.as_deref();
                self.words(words.unwrap_or_default());
                let value = words.map_or(Value::Unknown, Value::OneOf);
                let at = each.variable_span.start();
                self.set(&each.variable, at, value, Stands::Elsewhere);
                self.script(&each.body);
            }
            CommandKind::ArithmeticFor(each) => {
                for clause in &each.clauses {
                    self.arithmetic(clause);
                }
                self.script(&each.body);
            }
            CommandKind::Case(case) => {
                self.parts(&case.subject.parts);
                for arm in &case.arms {
                    self.words(&arm.patterns);
                    self.script(&arm.body);
                }
            }
            CommandKind::Condition(condition) => self.condition(condition),
            CommandKind::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
        }
        for redirect in &command.redirects {
            self.redirect(redirect);
        }
    }

    fn simple(&mut self, simple: &'s SimpleCommand<'s>, stands: Stands) {
        let alone = match simple.words.is_empty() {
            true => stands,
            // For that command alone, but what it runs sees it.
            false => Stands::Elsewhere,
        };
        for assignment in &simple.assignments {
            self.assignment(assignment, alone);
        }
        for word in &simple.words {
            match word {
                ArgWord::Word(word) => self.parts(&word.parts),
                ArgWord::Array(assignment) => self.assignment(assignment, Stands::Elsewhere),
            }
        }
        self.names_of_builtin(simple, stands);
    }

    fn assignment(&mut self, assignment: &'s Assignment<'s>, stands: Stands) {
        if let Some(subscript) = &assignment.subscript {
            self.subscript(subscript);
        }
        let value = match &assignment.value {
            AssignedValue::Word(word) => {
                self.parts(&word.parts);
                Value::String {
                    head: "",
                    rest: &word.parts,
                }
            }
            AssignedValue::Array(elements) => {
                for element in elements {
                    if let Some(subscript) = &element.subscript {
                        self.subscript(subscript);
                    }
                    self.parts(&element.value.parts);
                }
                Value::Array(elements)
            }
        };
        // What `+=` and a subscript leave is not what the assignment says.
        let whole = !assignment.appends && assignment.subscript.is_none();
        let stands = if whole { stands } else { Stands::Elsewhere };
        self.set(&assignment.name, assignment.span.start(), value, stands);
        if assignment.subscript.is_some() {
            self.variables.entry(&assignment.name).or_default().is_array = true;
        }
    }

    /// Finds the variables that a builtin sets whose names are its arguments.
    fn names_of_builtin(&mut self, simple: &'s SimpleCommand<'s>, stands: Stands) {
        let mut words = simple.words.iter().filter_map(|word| match word {
            ArgWord::Word(word) => Some(word),
            ArgWord::Array(_) => None,
        });
        // `command` may stand in front of any of them.
        let name = words
            .by_ref()
            .map(literal)
            .find(|name| !matches!(name.as_deref(), Some("command" | "-p" | "--")));
        let Some(Some(name)) = name else {
            return;
        };
        match name.as_str() {
            "declare" | "typeset" | "local" | "readonly" | "export" => {
                self.declaration(simple, words, stands);
            }
            "unset" => {
                for word in words {
                    if let Some(name) = name_of(word) {
                        let variable = self.variables.entry(name).or_default();
                        variable.is_declared = true;
                        variable.is_unset = true;
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "printf" => {
                for word in words {
                    if let Some(text) = name_of(word) {
                        self.named(text, word.span.start());
                    }
                }
            }
            "shopt" => {
                let mut words = words.map(literal);
                self.drops_patterns |= words.any(|word| word.as_deref() == Some("nullglob"));
            }
            _ => {}
        }
    }

    /// Takes notice of `NAME`, `NAME=value` and `NAME=( .. )` behind a declaration.
    fn declaration(
        &mut self,
        simple: &'s SimpleCommand<'s>,
        words: impl Iterator<Item = &'s Word<'s>>,
        stands: Stands,
    ) {
        let mut associative = false;
        for word in words {
            let at = word.span.start();
            let Some((Part::Literal(text) | Part::Quoted(text), rest)) = word.parts.split_first()
            else {
                continue;
            };
            if let Some(letters) = text.strip_prefix('-') {
                associative |= letters.contains('A');
            }
            match text.split_once('=') {
                Some((name, head)) => {
                    let name = name.trim_end_matches('+');
                    self.set(name, at, Value::String { head, rest }, Stands::Elsewhere);
                }
                None => {
                    let variable = self.variables.entry(text.as_ref()).or_default();
                    variable.is_declared = true;
                    if associative && stands == Stands::AtTop {
                        variable.associative_from.get_or_insert(at);
                    }
                }
            }
        }
        for word in &simple.words {
            if let ArgWord::Array(array) = word
                && associative
                && stands == Stands::AtTop
            {
                let variable = self.variables.entry(array.name.as_ref()).or_default();
                variable.associative_from.get_or_insert(array.span.start());
            }
        }
    }

    /// Takes notice of a name, which may be written together with its option: `-vname`.
    fn named(&mut self, text: &'s str, at: usize) {
        let is_option = text.starts_with('-') && text.len() < 40;
        let starts = if is_option { 1..text.len() } else { 0..1 };
        for start in starts {
            if let Some(name) = text.get(start..).filter(|name| !name.is_empty()) {
                self.set(name, at, Value::Unknown, Stands::Elsewhere);
            }
        }
    }

    fn words(&mut self, words: &'s [Word<'s>]) {
        for word in words {
            self.parts(&word.parts);
        }
    }

    fn parts(&mut self, parts: &'s [Part<'s>]) {
        for part in parts {
            match part {
                Part::DoubleQuoted(inner) => self.parts(inner),
                Part::Brace(brace) => {
                    if let Brace::Alternatives(alternatives) = brace.as_ref() {
                        for alternative in alternatives {
                            self.parts(alternative);
                        }
                    }
                }
                Part::Parameter(parameter) => self.parameter(parameter),
                Part::CommandSubstitution(inner) | Part::ProcessSubstitution(inner) => {
                    self.script(&inner.script);
                }
                Part::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
                Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
            }
        }
    }

    fn parameter(&mut self, parameter: &'s Parameter<'s>) {
        if let Some(subscript) = &parameter.subscript {
            self.subscript(subscript);
        }
        match &parameter.operation {
            Operation::Substitute { when, word, .. } => {
                self.parts(&word.parts);
                if *when == Substitute::Assign {
                    let value = Value::String {
                        head: "",
                        rest: &word.parts,
                    };
                    let at = parameter.span.start();
                    self.set(&parameter.name, at, value, Stands::Elsewhere);
                }
            }
            Operation::Trim { pattern } | Operation::ChangeCase { pattern } => {
                self.parts(&pattern.parts);
            }
            Operation::Replace {
                pattern,
                replacement,
            } => {
                self.parts(&pattern.parts);
                if let Some(word) = replacement {
                    self.parts(&word.parts);
                }
            }
            Operation::Substring { offset, length } => {
                self.arithmetic(offset);
                if let Some(length) = length {
                    self.arithmetic(length);
                }
            }
            _ => {}
        }
    }

    fn subscript(&mut self, subscript: &'s Subscript<'s>) {
        if let Subscript::Index(index) = subscript {
            self.arithmetic(index);
        }
    }

    fn arithmetic(&mut self, arithmetic: &'s Arithmetic<'s>) {
        for (name, at) in assigned_in(arithmetic) {
            self.set(name, at, Value::Number, Stands::Elsewhere);
        }
        for token in &arithmetic.tokens {
            if let ArithmeticToken::Part(part) = token {
                self.parts(std::slice::from_ref(part));
            }
        }
    }

    fn condition(&mut self, condition: &'s Condition<'s>) {
        match condition {
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.condition(left);
                self.condition(right);
            }
            Condition::Not(inner) | Condition::Group(inner) => self.condition(inner),
            Condition::Unary { operand, .. } => self.parts(&operand.parts),
            Condition::Binary { left, right, .. } => {
                self.parts(&left.parts);
                self.parts(&right.parts);
            }
            Condition::Word(word) => self.parts(&word.parts),
        }
    }

    fn redirect(&mut self, redirect: &'s Redirect<'s>) {
        match &redirect.target {
            RedirectTarget::Word(word) => self.parts(&word.parts),
            RedirectTarget::HereDocument(document) => self.parts(&document.body),
        }
    }
}

/// Tells whether an item only sets variables to plain text, which cannot fail.
fn is_plain_assignment(item: &Item<'_>) -> bool {
    item.pipelines.iter().all(|(_, pipeline)| {
        pipeline.commands.iter().all(|command| match &command.kind {
            CommandKind::Simple(simple) => {
                let is_plain = |assignment: &Assignment<'_>| match &assignment.value {
                    AssignedValue::Word(word) => {
                        assignment.subscript.is_none()
                            && !is_magic(&assignment.name)
                            && literal(word).is_some()
                    }
                    AssignedValue::Array(_) => false,
                };
                simple.words.is_empty()
                    && command.redirects.is_empty()
                    && simple.assignments.iter().all(is_plain)
            }
            _ => false,
        })
    })
}

/// Returns the text with which a word begins, if it begins with text.
fn name_of<'s>(word: &'s Word<'s>) -> Option<&'s str> {
    match word.parts.first() {
        Some(Part::Literal(text) | Part::Quoted(text)) => Some(text),
        Some(Part::DoubleQuoted(inner)) => match inner.first() {
            Some(Part::Literal(text) | Part::Quoted(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// Tells whether the shell sets a variable by itself.
fn is_magic(name: &str) -> bool {
    matches!(
        name,
        "_" | "REPLY"
            | "MAPFILE"
            | "OPTARG"
            | "OPTIND"
            | "PWD"
            | "OLDPWD"
            | "DIRSTACK"
            | "PIPESTATUS"
            | "COLUMNS"
            | "LINES"
            | "COPROC"
            | "HISTCMD"
            | "FUNCNAME"
            | "GROUPS"
            | "UID"
            | "EUID"
            | "PPID"
    ) || name.starts_with("BASH")
}

/// Returns the names that an expression assigns to, and where.
pub(crate) fn assigned_in<'t>(arithmetic: &'t Arithmetic<'_>) -> Vec<(&'t str, usize)> {
    let tokens = &arithmetic.tokens;
    let mut assigned = Vec::new();
    // Where the subscript ends that begins at a token, found in one pass from the end.
    let mut open: Vec<usize> = Vec::new();
    let mut behind: Vec<usize> = (1..=tokens.len()).collect();
    for (at, token) in tokens.iter().enumerate() {
        if is_operator(Some(token), |operator| operator == "[") {
            open.push(at);
        } else if is_operator(Some(token), |operator| operator == "]")
            && let Some(start) = open.pop()
        {
            behind[start] = at + 1;
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        let ArithmeticToken::Name { name, span } = token else {
            continue;
        };
        let steps = |token| is_operator(token, |operator| matches!(operator, "++" | "--"));
        let has_subscript = is_operator(tokens.get(at + 1), |operator| operator == "[");
        let after = match has_subscript {
            true => behind.get(at + 1).and_then(|end| tokens.get(*end)),
            false => tokens.get(at + 1),
        };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        if is_operator(after, is_assignment) || steps(before) || steps(after) {
            assigned.push((name.as_ref(), span.start()));
        }
    }
    assigned
}

fn is_operator(token: Option<&ArithmeticToken<'_>>, holds: impl Fn(&str) -> bool) -> bool {
    matches!(token, Some(ArithmeticToken::Operator(operator)) if holds(operator))
}

fn is_assignment(operator: &str) -> bool {
    operator.ends_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">=")
}

/// Returns the text of a word without expansions.
pub(crate) fn literal(word: &Word<'_>) -> Option<String> {
    fn add(parts: &[Part<'_>], text: &mut String) -> Option<()> {
        for part in parts {
            match part {
                Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
                Part::DoubleQuoted(inner) => add(inner, text)?,
                _ => return None,
            }
        }
        Some(())
    }
    let mut text = String::new();
    add(&word.parts, &mut text)?;
    Some(text)
}
