//! Arguments that cannot turn into options.

mod printers;

pub(super) use self::printers::is_date_format;
use self::printers::{always_prints, prints_no_option, prints_one_word, prints_ref_name};
use super::arg::Arg;
use super::git_hashes;
use super::numeric;
use super::plain_values::{self, Form};
use super::scope::Scope;
use super::survey::Value;
use crate::syntax::{Brace, Operation, Parameter, Part, Subscript, Word, static_text};

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 8;

/// Whether the shell splits the result of an expansion into several arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Splits {
    Yes,
    No,
}

/// Returns whether a command can never read an argument as an option.
///
/// Only arguments with unknown text are judged; static arguments are known.
pub(crate) fn is_option_safe(scope: &Scope<'_>, arg: &Arg<'_>) -> bool {
    if arg.is_static() {
        return true;
    }
    if splits_into_more(scope, arg) {
        return false;
    }
    match arg.text.as_bytes().first() {
        Some(first) => *first != b'-',
        // A program builds it from unknown input.
        None if arg.parts.is_empty() => false,
        None => {
            let mut parts = Vec::new();
            flatten(&arg.parts, Splits::Yes, &mut parts);
            starts_with_no_option(scope, &parts)
        }
    }
}

/// Returns whether a word can never be an option, if it stays one word.
pub(crate) fn is_word_option_safe(scope: &Scope<'_>, word: &Word<'_>) -> bool {
    let mut parts = Vec::new();
    flatten(&word.parts, Splits::Yes, &mut parts);
    starts_with_no_option(scope, &parts)
}

/// Returns whether an argument may become several, or none.
///
/// Unquoted output of a command is split, and so is a variable that the script sets to an unknown
/// value. A variable from the environment counts as one word by the rules.
pub(crate) fn splits_into_more(scope: &Scope<'_>, arg: &Arg<'_>) -> bool {
    unquoted_parts(arg, |part| match part {
        Part::Parameter(parameter) => {
            is_list(parameter)
                || (!is_one_word(scope, part) && !is_from_environment(scope, parameter))
        }
        part => !is_one_word(scope, part),
    })
}

/// Returns whether an argument may vanish or become several, also because of a variable from the
/// environment.
pub(crate) fn may_shift(scope: &Scope<'_>, arg: &Arg<'_>) -> bool {
    (arg.is_pattern() && scope.survey().drops_patterns)
        || (arg.text.is_empty() && unquoted_parts(arg, |part| !is_one_word(scope, part)))
        || splits_into_more(scope, arg)
}

/// Returns whether an argument stays one argument whatever its expansions yield.
pub(crate) fn stays_one_word(scope: &Scope<'_>, arg: &Arg<'_>) -> bool {
    !unquoted_parts(arg, |part| {
        let is_listed = matches!(part, Part::Parameter(parameter) if is_list(parameter));
        is_listed || !is_one_word(scope, part)
    })
}

/// Returns whether every expansion in `arg`, quoted or not, yields at most one word: a program that
/// splits the argument at blanks finds only the literal words.
pub(crate) fn expands_to_words(scope: &Scope<'_>, arg: &Arg<'_>) -> bool {
    let mut parts = Vec::new();
    flatten(&arg.parts, Splits::Yes, &mut parts);
    let mut continues = false;
    parts.iter().all(|(part, _)| {
        let continued = std::mem::take(&mut continues);
        match part {
            Part::Literal(text) | Part::Quoted(text) => {
                continues = text.ends_with(|c: char| !c.is_whitespace());
                true
            }
            Part::CommandSubstitution(inner) if prints_ref_name(scope, &inner.script) => continued,
            Part::Parameter(parameter) => {
                !is_list(parameter)
                    && (is_one_word(scope, part) || is_from_environment(scope, parameter))
            }
            part => is_one_word(scope, part),
        }
    })
}

/// Returns whether `holds` is true for an unquoted expansion.
fn unquoted_parts(arg: &Arg<'_>, holds: impl Fn(&Part<'_>) -> bool) -> bool {
    if arg.is_static() || arg.unknown.is_some_and(|unknown| unknown.quoted) {
        return false;
    }
    let mut parts = Vec::new();
    flatten(&arg.parts, Splits::Yes, &mut parts);
    parts.iter().any(|(part, splits)| {
        let is_listed = matches!(part, Part::Parameter(parameter) if is_list(parameter));
        let is_expansion = matches!(
            part,
            Part::Parameter(_)
                | Part::CommandSubstitution(_)
                | Part::ProcessSubstitution(_)
                | Part::Glob(_)
        );
        is_expansion && (*splits == Splits::Yes || is_listed) && holds(part)
    })
}

/// Returns whether an expansion certainly yields one word.
fn is_one_word(scope: &Scope<'_>, part: &Part<'_>) -> bool {
    let is_safe = match part {
        Part::ProcessSubstitution(_) => true,
        Part::CommandSubstitution(inner) => prints_one_word(scope, &inner.script),
        part => yields_no_option(scope, part, Splits::Yes, DEEPEST),
    };
    is_safe || numeric::is_safe_part(scope, part)
}

/// Returns whether a script uses a variable without an operation, and never sets it.
fn is_from_environment(scope: &Scope<'_>, parameter: &Parameter<'_>) -> bool {
    parameter.operation == Operation::Value
        && parameter.subscript.is_none()
        && scope.survey().variable(&parameter.name).is_none()
}

/// Returns whether a part makes several words even in quotes.
pub(crate) fn is_list_part(part: &Part<'_>) -> bool {
    matches!(part, Part::Parameter(parameter) if is_list(parameter))
}

/// Returns whether an expansion makes several words even in quotes.
fn is_list(parameter: &Parameter<'_>) -> bool {
    parameter.operation != Operation::Length
        && (parameter.name == "@"
            || parameter.subscript == Some(Subscript::All)
            || matches!(parameter.operation, Operation::Keys | Operation::Names))
}

/// Lists the parts of a word, including those in double quotes.
fn flatten<'p, 's>(parts: &'p [Part<'s>], splits: Splits, flat: &mut Vec<(&'p Part<'s>, Splits)>) {
    for part in parts {
        match part {
            Part::DoubleQuoted(inner) => flatten(inner, Splits::No, flat),
            part => flat.push((part, splits)),
        }
    }
}

/// Returns whether a sequence of parts, of which the first may be empty, never starts with `-`.
fn starts_with_no_option(scope: &Scope<'_>, parts: &[(&Part<'_>, Splits)]) -> bool {
    for (part, splits) in parts {
        match part {
            Part::Literal(text) | Part::Quoted(text) if text.is_empty() => {}
            Part::Literal(text) | Part::Quoted(text) => return !text.starts_with('-'),
            Part::Glob(_) | Part::Tilde(_) => return true,
            part if !yields_no_option(scope, part, *splits, DEEPEST) => return false,
            part if is_never_empty(part) => return true,
            _ => {}
        }
    }
    true
}

fn is_never_empty(part: &Part<'_>) -> bool {
    match part {
        Part::Arithmetic(_) => true,
        Part::CommandSubstitution(inner) => always_prints(&inner.script),
        Part::Parameter(parameter) => {
            parameter.operation == Operation::Length
                || matches!(parameter.name.as_ref(), "?" | "#" | "$" | "PWD" | "HOME")
        }
        _ => false,
    }
}

/// Returns whether the result of an expansion never starts with `-`.
fn yields_no_option(scope: &Scope<'_>, part: &Part<'_>, splits: Splits, depth: usize) -> bool {
    match part {
        Part::Arithmetic(_) => true,
        Part::Parameter(parameter) => parameter_is_no_option(scope, parameter, splits, depth),
        Part::CommandSubstitution(inner) => prints_no_option(scope, &inner.script, splits),
        _ => false,
    }
}

fn parameter_is_no_option(
    scope: &Scope<'_>,
    parameter: &Parameter<'_>,
    splits: Splits,
    depth: usize,
) -> bool {
    match parameter.operation {
        Operation::Length => return true,
        Operation::Value if parameter.subscript.is_none() => {}
        _ => return false,
    }
    let name = parameter.name.as_ref();
    let (Some(depth), Some(variable)) = (depth.checked_sub(1), scope.survey().variable(name))
    else {
        let is_place = matches!(name, "PWD" | "OLDPWD")
            && (splits == Splits::No || !scope.survey().enters_split_directory);
        return is_place || matches!(name, "?" | "#" | "$" | "!" | "HOME");
    };
    if let [given] = &variable.values[..]
        && matches!(given.value, Value::Unknown)
        && !variable.is_array
        && !variable.is_declared
    {
        return git_hashes::are_read_into(scope, given.at, parameter.span);
    }
    let form = plain_values::parameter_form(scope, parameter, parameter.span.start());
    if form.is_some_and(|form| form != Form::Name) {
        return true;
    }
    let memo = match splits {
        Splits::No => &variable.is_no_option_quoted,
        Splits::Yes => &variable.is_no_option_split,
    };
    memo.or_find(|| variable.always(|given| value_is_no_option(scope, given.value, splits, depth)))
}

fn value_is_no_option(scope: &Scope<'_>, value: Value<'_>, splits: Splits, depth: usize) -> bool {
    match (value, splits) {
        (Value::Number, _) => true,
        (Value::String { head: "", rest }, Splits::No) => {
            starts_safely(scope, rest, Splits::No, depth)
        }
        (Value::String { head, .. }, Splits::No) => !head.starts_with('-'),
        (Value::OneOf(words), Splits::No) => words
            .iter()
            .all(|word| is_safe_item(scope, &word.parts, depth)),
        (Value::String { head: "", rest }, Splits::Yes) => is_one_safe_word(scope, rest, depth),
        (Value::String { head, rest: [] }, Splits::Yes) => is_safe_word(head),
        (Value::OneOf(words), Splits::Yes) => words
            .iter()
            .all(|word| is_one_safe_word(scope, &word.parts, depth)),
        _ => false,
    }
}

/// Returns whether a word after `in` yields items that are not options.
fn is_safe_item(scope: &Scope<'_>, parts: &[Part<'_>], depth: usize) -> bool {
    // Output of a command is split, so the static text before it only belongs to the first item.
    let rest = parts.get(1..).unwrap_or_default();
    let splits = rest.iter().any(|part| match part {
        Part::CommandSubstitution(inner) => !prints_no_option(scope, &inner.script, Splits::Yes),
        _ => false,
    });
    !splits && starts_safely(scope, parts, Splits::Yes, depth)
}

/// Returns whether a value starts with something other than `-`, whatever follows.
fn starts_safely(scope: &Scope<'_>, parts: &[Part<'_>], splits: Splits, depth: usize) -> bool {
    let mut flat = Vec::new();
    flatten(parts, splits, &mut flat);
    for (part, splits) in flat {
        match part {
            Part::Literal(text) | Part::Quoted(text) if text.is_empty() => {}
            Part::Literal(text) | Part::Quoted(text) => return !text.starts_with('-'),
            // By the rules, a pattern is not an option, and `~` becomes a path.
            Part::Glob(_) | Part::Tilde(_) => return true,
            Part::Brace(brace) => return brace_is_safe(brace),
            part if !yields_no_option(scope, part, splits, depth) => return false,
            part if is_never_empty(part) => return true,
            // It may be empty, and then the next part starts the value.
            _ => {}
        }
    }
    // An empty value is not an option.
    true
}

/// Returns whether all alternatives of a brace start with text other than a dash.
fn brace_is_safe(brace: &Brace<'_>) -> bool {
    match brace {
        Brace::Sequence { first, last, .. } => !first.starts_with('-') && !last.starts_with('-'),
        Brace::Alternatives(all) => all.iter().all(|parts| match parts.first() {
            Some(Part::Literal(text) | Part::Quoted(text)) => {
                !text.is_empty() && !text.starts_with('-')
            }
            Some(Part::Glob(_)) => true,
            _ => false,
        }),
    }
}

/// Returns whether a value stays one argument, or none, that is not an option.
fn is_one_safe_word(scope: &Scope<'_>, parts: &[Part<'_>], depth: usize) -> bool {
    match parts {
        [Part::Brace(brace)] => brace_is_safe(brace),
        // Quotes keep it together where it is assigned, not where it is used.
        [Part::DoubleQuoted(inner)] => is_one_safe_word(scope, inner, depth),
        [part @ (Part::Parameter(_) | Part::Arithmetic(_) | Part::CommandSubstitution(_))] => {
            yields_no_option(scope, part, Splits::Yes, depth)
        }
        parts => static_text(parts).is_some_and(|text| is_safe_word(&text)),
    }
}

fn is_safe_word(text: &str) -> bool {
    !text.starts_with('-') && !text.contains([' ', '\t', '\n', '*', '?', '['])
}
