//! Expansions whose values have a known form: numbers, hashes of commits and dates.
//!
//! Each is represented by sample values. A text that is allowed with every sample is allowed with
//! every value, because the samples contain each kind of character that a value can have.

use super::arg::Arg;
use super::braces;
use super::git_hashes::{self, HashLines};
use super::numeric;
use super::resolve::static_value;
use super::scope::Scope;
use super::survey::Value;
use crate::syntax::{
    Arithmetic, ArithmeticToken, CommandKind, Operation, Parameter, Part, Script, SimpleCommand,
    Text, static_text,
};

/// Samples of a hash: it may begin with a digit or a letter, and consist of digits only. The command
/// that prints it may fail, and `git rev-parse HEAD` then prints `HEAD`.
const HASH: &[&str] = &["1e1", "e1", "11", "HEAD", ""];

/// The fewest digits of an abbreviated hash. Fewer could be a part of a name in a program.
const SHORTEST: u32 = 4;

/// Maximum number of texts that the samples of one argument may form.
const MOST_TEXTS: usize = 64;

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 4;

/// A list of samples, and whether they are hashes, of which every part has the same form.
struct Samples {
    values: Vec<String>,
    are_hashes: bool,
}

impl Samples {
    fn hashes() -> Self {
        Self {
            values: HASH.iter().map(|text| (*text).to_owned()).collect(),
            are_hashes: true,
        }
    }
}

/// Returns the sample values of an expansion used at `at`; `None` if its form is unknown.
pub(crate) fn samples(scope: &Scope<'_>, part: &Part<'_>, at: usize) -> Option<Vec<String>> {
    samples_of(scope, part, at, DEEPEST).map(|samples| samples.values)
}

/// Returns the texts that `arg` forms with each sample value; `None` if anything else in it is
/// unknown.
pub(crate) fn texts(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<Vec<String>> {
    if arg.tilde {
        return None;
    }
    let mut builder = TextBuilder {
        scope,
        at: arg.span.start(),
        texts: vec![String::new()],
        beginning: None,
    };
    builder.add(&arg.parts, true)?;
    // The value of an option in the same argument has the parts of the whole argument.
    let beginning = builder.beginning?;
    let option = beginning.strip_suffix(arg.text.as_ref())?.len();
    let texts = builder.texts.iter().map(|text| text[option..].to_owned());
    Some(texts.collect())
}

/// The texts that an argument may form.
struct TextBuilder<'s, 'f> {
    scope: &'f Scope<'s>,
    /// The position of the argument.
    at: usize,
    texts: Vec<String>,
    /// The text before the first sample.
    beginning: Option<String>,
}

impl TextBuilder<'_, '_> {
    fn add(&mut self, parts: &[Part<'_>], splits: bool) -> Option<()> {
        for part in parts {
            match part {
                Part::Literal(text) | Part::Quoted(text) => self.push(text),
                Part::DoubleQuoted(inner) => self.add(inner, false)?,
                part => self.add_expansion(part, splits)?,
            }
        }
        Some(())
    }

    fn add_expansion(&mut self, part: &Part<'_>, splits: bool) -> Option<()> {
        if let Part::Parameter(parameter) = part
            && parameter.operation == Operation::Value
            && parameter.subscript.is_none()
            && let Some((value, true)) = static_value(self.scope, &parameter.name, self.at)
            && !(splits && is_split(&value))
        {
            self.push(&value);
            return Some(());
        }
        let values = samples(self.scope, part, self.at)?;
        let is_too_many = self.texts.len() * values.len() > MOST_TEXTS;
        if is_too_many || splits && values.iter().any(|value| is_split(value)) {
            return None;
        }
        self.beginning.get_or_insert_with(|| self.texts[0].clone());
        let all = self.texts.iter();
        let all = all.flat_map(|text| values.iter().map(move |value| format!("{text}{value}")));
        self.texts = all.collect();
        Some(())
    }

    fn push(&mut self, text: &str) {
        for whole in &mut self.texts {
            whole.push_str(text);
        }
    }
}

/// Returns whether the shell splits or expands a value that is not quoted.
fn is_split(value: &str) -> bool {
    value.contains([' ', '\t', '\n', '*', '?', '['])
}

fn samples_of(scope: &Scope<'_>, part: &Part<'_>, at: usize, depth: usize) -> Option<Samples> {
    match part {
        Part::Arithmetic(_) => Some(number("1")),
        Part::CommandSubstitution(inner) => {
            printed(&inner.script, false).or_else(|| printed_number(scope, part))
        }
        Part::Parameter(parameter) => match &parameter.operation {
            Operation::Length => Some(number("1")),
            Operation::Value if parameter.subscript.is_none() => {
                variable(scope, parameter, at, depth)
            }
            Operation::Substring { offset, length } if parameter.subscript.is_none() => {
                let is_long = length.as_ref().and_then(constant) >= Some(SHORTEST);
                let is_beginning = constant(offset) == Some(0) && is_long;
                variable(scope, parameter, at, depth).filter(|it| it.are_hashes && is_beginning)
            }
            _ => None,
        },
        _ => None,
    }
}

fn number(text: &str) -> Samples {
    Samples {
        values: vec![text.to_owned()],
        are_hashes: false,
    }
}

fn constant(arithmetic: &Arithmetic<'_>) -> Option<u32> {
    match &arithmetic.tokens[..] {
        [ArithmeticToken::Number(number)] => number.parse().ok(),
        _ => None,
    }
}

/// Returns the samples of a command that counts, or fails and prints nothing.
fn printed_number(scope: &Scope<'_>, part: &Part<'_>) -> Option<Samples> {
    numeric::is_safe_part(scope, part).then(number_or_nothing)
}

fn number_or_nothing() -> Samples {
    Samples {
        values: vec!["1".to_owned(), String::new()],
        are_hashes: false,
    }
}

fn variable(
    scope: &Scope<'_>,
    parameter: &Parameter<'_>,
    at: usize,
    depth: usize,
) -> Option<Samples> {
    let name = parameter.name.as_ref();
    let survey = scope.survey();
    if survey.variable(name).is_none() {
        match name {
            "$" | "?" | "#" => return Some(number("1")),
            // Other shells do not set them.
            "RANDOM" | "SECONDS" | "EPOCHSECONDS" => return Some(number_or_nothing()),
            _ => {}
        }
    }
    let depth = depth.checked_sub(1)?;
    let variable = survey.variable(name)?;
    let is_plain = !variable.is_array
        && !variable.is_declared
        && variable.has_few_values()
        && !scope.appends_to(name);
    if !is_plain || !scope.is_set(name, variable, at) {
        return None;
    }
    let mut all = Samples {
        values: Vec::new(),
        are_hashes: true,
    };
    for given in &variable.values {
        let found = match given.value {
            Value::Number => vec![number_or_nothing()],
            Value::String { head: "", rest } => match rest {
                [Part::DoubleQuoted(inner)] => vec![value(scope, inner, at, depth)?],
                parts => vec![value(scope, parts, at, depth)?],
            },
            Value::OneOf(words) => {
                let words = words.iter().map(|word| item(scope, &word.parts, at, depth));
                words.collect::<Option<Vec<_>>>()?
            }
            _ => return None,
        };
        for samples in found {
            all.are_hashes &= samples.are_hashes;
            for value in samples.values {
                if !all.values.contains(&value) {
                    all.values.push(value);
                }
            }
        }
        if all.values.len() > MOST_TEXTS {
            return None;
        }
    }
    (!all.values.is_empty()).then_some(all)
}

/// Returns the samples of an assigned value.
fn value(scope: &Scope<'_>, parts: &[Part<'_>], at: usize, depth: usize) -> Option<Samples> {
    match parts {
        [part @ (Part::Literal(text) | Part::Quoted(text))] => {
            numeric::is_safe_part(scope, part).then(|| number(text))
        }
        [part] => samples_of(scope, part, at, depth),
        _ => None,
    }
}

/// Returns each of the numbers that braces make: `{1..9}`.
fn numbers(scope: &Scope<'_>, part: &Part<'_>) -> Option<Samples> {
    let expanded = braces::expand(std::slice::from_ref(part))?;
    let is_few = numeric::is_safe_part(scope, part) && expanded.len() <= MOST_TEXTS;
    let values: Option<Vec<String>> = expanded
        .iter()
        .filter(|_| is_few)
        .map(|parts| static_text(parts).map(Text::into_owned))
        .collect();
    Some(Samples {
        values: values.filter(|values| !values.is_empty())?,
        are_hashes: false,
    })
}

/// Returns the samples of a word after `in`, which the shell does not split further.
fn item(scope: &Scope<'_>, parts: &[Part<'_>], at: usize, depth: usize) -> Option<Samples> {
    let found = match parts {
        [part @ Part::Brace(_)] => numbers(scope, part),
        [Part::CommandSubstitution(inner)] => {
            if numeric::prints_numbers(scope, &inner.script) {
                return Some(number("1"));
            }
            printed(&inner.script, true)
        }
        parts => value(scope, parts, at, depth),
    };
    found.filter(|samples| !samples.values.iter().any(|value| is_split(value)))
}

/// Returns the only command of a script, without assignments and redirections.
fn only_simple<'t, 's>(script: &'t Script<'s>) -> Option<&'t SimpleCommand<'s>> {
    let command = script.only_command()?;
    match &command.kind {
        CommandKind::Simple(simple)
            if command.redirects.is_empty() && simple.assignments.is_empty() =>
        {
            Some(simple)
        }
        _ => None,
    }
}

/// Returns the samples of a command that prints hashes or a date. `lines` allows several lines.
fn printed(script: &Script<'_>, lines: bool) -> Option<Samples> {
    let words: Vec<Text<'_>> = only_simple(script)?.static_words()?;
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let is_hash = git_hashes::printed_lines(&words) == Some(HashLines::Only);
    if is_hash && (lines || git_hashes::prints_one_line(&words)) {
        return Some(Samples::hashes());
    }
    let format = match words[..] {
        ["date", format] | ["date", "-u" | "--utc", format] => format.strip_prefix('+')?,
        _ => return None,
    };
    Some(Samples {
        values: vec![date(format)?, String::new()],
        are_hashes: false,
    })
}

/// Returns a date in a format with digits only, apart from its literal text.
fn date(format: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        text.push_str(match rest.next()? {
            'Y' | 'G' => "2026",
            'm' | 'd' | 'H' | 'M' | 'S' | 'V' | 'y' | 'C' | 'g' | 'I' => "01",
            'j' => "001",
            'u' | 'w' | 's' | 'N' => "1",
            'F' => "2026-01-01",
            'T' => "01:01:01",
            'R' => "01:01",
            'D' => "01/01/26",
            '%' => "%",
            _ => return None,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_consist_of_digits_and_the_text_of_the_format() {
        assert_eq!(date("%Y%m%d-%H%M%S").as_deref(), Some("20260101-010101"));
        assert_eq!(date("x/%F").as_deref(), Some("x/2026-01-01"));
        for format in ["%B", "%e", "%Z", "%-d", "%", "%c", "%^a"] {
            assert_eq!(date(format), None, "{format}");
        }
    }
}
