//! Expansions with plain values: unsigned numbers, and names without blanks and slashes.

use super::arg::Arg;
use super::braces;
use super::option_safe::is_date_format;
use super::path::is_sessions_folder;
use super::resolve::static_value;
use super::scope::Scope;
use super::survey::{AssignmentRecord, Value};
use crate::check::text::is_number;
use crate::syntax::{
    ArgWord, CommandKind, Operation, Parameter, Part, RedirectOperator, Script, SimpleCommand,
    Text, Word, static_text,
};

/// Every possible value of an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An integer.
    Number,
    /// Digits, or nothing.
    NumberOrNothing,
    /// Digits with blanks around them, or nothing.
    Count,
    /// Letters, digits, `_`, `-` and dots after a digit, or nothing.
    Date,
    /// Letters, digits, `_`, `-` and inner dots.
    Name,
}

impl Form {
    /// Returns the form of values of either form.
    fn or(self, other: Self) -> Option<Self> {
        use Form::{Date, Name, Number, NumberOrNothing};
        match (self, other) {
            (one, other) if one == other => Some(one),
            (Number, Date) | (Date, Number) => Some(Date),
            (Number, Name) | (Name, Number) => Some(Name),
            (Number, NumberOrNothing) | (NumberOrNothing, Number) => Some(NumberOrNothing),
            _ => None,
        }
    }
}

/// Returns the form of the values of an expansion used at `at`.
///
/// The values of a variable must be literal, because a variable in them could have another value
/// where it is assigned.
pub(crate) fn form(scope: &Scope<'_>, part: &Part<'_>, at: usize) -> Option<Form> {
    match part {
        Part::Parameter(parameter) => parameter_form(scope, parameter, at),
        part => printed(part),
    }
}

/// Returns the form of the values of a parameter used at `at`, like [`form`].
pub(crate) fn parameter_form(
    scope: &Scope<'_>,
    parameter: &Parameter<'_>,
    at: usize,
) -> Option<Form> {
    match parameter.operation {
        Operation::Length => Some(Form::Number),
        Operation::Value if parameter.subscript.is_none() => variable(scope, parameter, at),
        _ => None,
    }
}

/// Returns whether every value of an expansion consists of letters, digits and `_-:.`, or is empty.
pub(crate) fn is_plain_text(scope: &Scope<'_>, part: &Part<'_>, at: usize) -> bool {
    let prints_plain_text = |script: &Script<'_>| {
        date_format(script).is_some()
            || only_words(script, false).is_some_and(|words| {
                words == ["git", "rev-parse", "HEAD"]
                    || words == ["git", "rev-parse", "--short", "HEAD"]
            })
    };
    let assigned = |parameter: &Parameter<'_>| {
        let name = parameter.name.as_ref();
        let is_value = parameter.operation == Operation::Value && parameter.subscript.is_none();
        let variable = scope.survey().variable(name).filter(|_| is_value)?;
        let is_set = !variable.is_array
            && !variable.is_declared
            && !scope.appends_to(name)
            && scope.is_set(name, variable, at);
        let is_plain = |given: &AssignmentRecord<'_>| match given.value {
            Value::String { head: "", rest } => {
                let parts = match rest {
                    [Part::DoubleQuoted(inner)] => &inner[..],
                    parts => parts,
                };
                matches!(parts, [Part::CommandSubstitution(inner)] if prints_plain_text(&inner.script))
            }
            _ => false,
        };
        (is_set && variable.has_few_values()).then(|| variable.always(is_plain))
    };
    match part {
        Part::CommandSubstitution(inner) => prints_plain_text(&inner.script),
        Part::Parameter(parameter) => assigned(parameter).unwrap_or(false),
        _ => false,
    }
}

/// Returns the form of arithmetic, and of the output of `date` and `wc`.
fn printed(part: &Part<'_>) -> Option<Form> {
    match part {
        Part::Arithmetic(_) => Some(Form::Number),
        Part::CommandSubstitution(inner) if prints_date(&inner.script) => Some(Form::Date),
        Part::CommandSubstitution(inner) if counts_lines(&inner.script) => Some(Form::Count),
        _ => None,
    }
}

fn variable(scope: &Scope<'_>, parameter: &Parameter<'_>, at: usize) -> Option<Form> {
    let name = parameter.name.as_ref();
    let Some(variable) = scope.survey().variable(name) else {
        return match name {
            "$" | "?" | "#" => Some(Form::Number),
            // Other shells do not set them.
            "RANDOM" | "SECONDS" | "EPOCHSECONDS" => Some(Form::NumberOrNothing),
            _ => None,
        };
    };
    let is_plain = !variable.is_array && !variable.is_declared && !scope.appends_to(name);
    if !is_plain || !variable.has_few_values() || !scope.is_set(name, variable, at) {
        return None;
    }
    all(variable.values.iter().map(|given| assigned(scope, given)))
}

/// Returns the form of values of all these forms.
fn all(mut forms: impl Iterator<Item = Option<Form>>) -> Option<Form> {
    let first = forms.next()??;
    forms.try_fold(first, |one, other| one.or(other?))
}

fn assigned(scope: &Scope<'_>, given: &AssignmentRecord<'_>) -> Option<Form> {
    match given.value {
        Value::Number => Some(Form::Number),
        Value::String { head: "", rest } => match rest {
            [Part::DoubleQuoted(inner)] => text_or_printed(inner),
            parts => text_or_printed(parts),
        },
        Value::OneOf(words) => all(words.iter().map(|word| item(scope, word))),
        _ => None,
    }
}

fn text_or_printed(parts: &[Part<'_>]) -> Option<Form> {
    match parts {
        [part @ (Part::Arithmetic(_) | Part::CommandSubstitution(_))] => printed(part),
        parts => text(&static_text(parts)?),
    }
}

fn text(text: &str) -> Option<Form> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let is_name = text.bytes().next().is_some_and(is_part)
        && text.bytes().all(|byte| is_part(byte) || byte == b'.');
    match text {
        digits if is_digits(digits) => Some(Form::Number),
        name => (is_name && !is_sessions_folder(name)).then_some(Form::Name),
    }
}

fn is_digits(text: &str) -> bool {
    is_number(text)
}

/// Returns the form of the items that a word after `in` makes.
fn item(scope: &Scope<'_>, word: &Word<'_>) -> Option<Form> {
    if let [Part::CommandSubstitution(inner)] = &word.parts[..] {
        return counts_up(scope, &inner.script).then_some(Form::Number);
    }
    let words = braces::expand(&word.parts)?;
    all(words.iter().map(|parts| text(&static_text(parts)?)))
}

/// Returns whether a script is `seq` with small unsigned numbers, which every implementation prints
/// as digits.
fn counts_up(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    let Some(simple) = only_simple(script, false) else {
        return false;
    };
    let is_number = |word: &ArgWord<'_>| {
        let ArgWord::Word(word) = word else {
            return false;
        };
        let parts = match &word.parts[..] {
            [Part::DoubleQuoted(inner)] => inner,
            parts => parts,
        };
        let value = match parts {
            [part @ Part::Parameter(_)] => value_of(scope, part, word.span.start()),
            parts => static_text(parts).map(Text::into_owned),
        };
        value.is_some_and(|text| is_digits(&text) && text.len() < 6)
    };
    let is = |word: &ArgWord<'_>, name| word.static_text().as_deref() == Some(name);
    match &simple.words[..] {
        [seq, padded, numbers @ ..] if is(seq, "seq") && is(padded, "-w") => {
            numbers.iter().all(is_number)
        }
        [seq, numbers @ ..] => is(seq, "seq") && numbers.iter().all(is_number),
        [] => false,
    }
}

/// Returns whether a script is `date` with a format that makes a name.
fn prints_date(script: &Script<'_>) -> bool {
    let format = date_format(script);
    format.is_some_and(|format| !format.contains(':') && !format.contains("%T"))
}

/// Returns the format of a script that is `date`, if it prints one word in it.
fn date_format(script: &Script<'_>) -> Option<String> {
    let words = only_words(script, false)?;
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words[..] {
        ["date", format] | ["date", "-u" | "--utc", format] if is_date_format(format) => {
            Some(format.to_owned())
        }
        _ => None,
    }
}

/// Returns whether a script is `wc -l < FILE`.
fn counts_lines(script: &Script<'_>) -> bool {
    only_words(script, true).is_some_and(|words| words == ["wc", "-l"])
}

/// Returns the words of a command like [`only_simple`], if all are known.
fn only_words<'t>(script: &'t Script<'_>, reads: bool) -> Option<Vec<Text<'t>>> {
    only_simple(script, reads)?.static_words()
}

/// Returns the only simple command of a script, without redirections, or with exactly one that reads
/// a file.
fn only_simple<'t, 's>(script: &'t Script<'s>, reads: bool) -> Option<&'t SimpleCommand<'s>> {
    let command = script.only_command()?;
    let CommandKind::Simple(simple) = &command.kind else {
        return None;
    };
    let is_plain = match &command.redirects[..] {
        [] => !reads,
        [only] => reads && only.operator == RedirectOperator::Read && only.descriptor.is_none(),
        _ => false,
    };
    (is_plain && simple.assignments.is_empty()).then_some(simple)
}

/// Returns the paths that `arg` may name: with `1` in place of every number and date, and with `x` or
/// `*` in place of every name. If a value may be empty, the second path is the one without it.
///
/// Returns `None` if `arg` has other expansions, several of them may be empty, or a value could make
/// a component a protected name. The paths stay in their literal folders.
pub(crate) fn paths(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<Vec<String>> {
    read_path(scope, arg, |form| form != Form::Name)
}

/// Returns the path of [`paths`], if no value may be empty. Names are accepted.
pub(crate) fn named_path(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<String> {
    let accepted = |form| matches!(form, Form::Number | Form::Name);
    read_path(scope, arg, accepted)?.pop()
}

fn read_path(
    scope: &Scope<'_>,
    arg: &Arg<'_>,
    accepts: impl Fn(Form) -> bool,
) -> Option<Vec<String>> {
    if arg.tilde {
        return None;
    }
    let at = arg.span.start();
    let mut text = String::new();
    let mut beginning = None;
    let mut without = None;
    for outer in arg.parts.iter() {
        let (inner, splits) = match outer {
            Part::DoubleQuoted(inner) => (&inner[..], false),
            part => (std::slice::from_ref(part), true),
        };
        for part in inner {
            if let Part::Literal(literal) | Part::Quoted(literal) = part {
                text.push_str(literal);
                without
                    .iter_mut()
                    .for_each(|it: &mut String| it.push_str(literal));
                continue;
            }
            if let Some(value) = value_of(scope, part, at) {
                if splits && value.contains([' ', '\t', '\n', '*', '?', '[']) {
                    return None;
                }
                text.push_str(&value);
                without.iter_mut().for_each(|it| it.push_str(&value));
                continue;
            }
            beginning.get_or_insert(text.len());
            let form = form(scope, part, at).filter(|form| accepts(*form))?;
            let placeholder = match form {
                // `.$x` could be `.git`.
                Form::Name if last_component(&text).starts_with('.') => return None,
                Form::Name => '*',
                Form::Count => return None,
                Form::Number | Form::NumberOrNothing | Form::Date => '1',
            };
            if matches!(form, Form::NumberOrNothing | Form::Date) {
                if without.is_some() {
                    return None;
                }
                without = Some(text.clone());
            } else {
                without.iter_mut().for_each(|it| it.push(placeholder));
            }
            text.push(placeholder);
        }
    }
    // The value of an option in the same argument has the parts of the whole argument.
    let option = text[..beginning?].strip_suffix(arg.text.as_ref())?.len();
    let paths = [Some(text), without].into_iter().flatten();
    Some(
        paths
            .map(|path| with_whole_names(&path[option..]))
            .collect(),
    )
}

/// Returns a path with `x` in place of the names that are whole components. None of them is the
/// folder of sessions.
fn with_whole_names(path: &str) -> String {
    let components = path.split('/').map(|it| if it == "*" { "x" } else { it });
    components.collect::<Vec<_>>().join("/")
}

fn last_component(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the value of a variable that is certainly set to one text.
fn value_of(scope: &Scope<'_>, part: &Part<'_>, at: usize) -> Option<String> {
    let Part::Parameter(parameter) = part else {
        return None;
    };
    let is_plain = parameter.operation == Operation::Value && parameter.subscript.is_none();
    let (value, is_certain) = static_value(scope, &parameter.name, at)?;
    (is_plain && is_certain).then(|| value.into_owned())
}
