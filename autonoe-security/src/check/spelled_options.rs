//! Options that a text builds by expansions.
//!
//! In run mode, tools take unknown arguments: names of files that another command prints, or
//! variables of the environment. An argument that the text itself builds is different. `${p#x}` and
//! `$(echo xx | tr x -)` can spell an option that no table sees.

use super::arg::{Arg, flat_parts};
use super::call::{Call, Checked};
use super::scope::{Fact, Scope};
use super::survey::{AssignmentRecord, Value};
use crate::syntax::{
    ArgWord, CommandKind, Operation, Parameter, Part, RedirectOperator, Script, Word, static_text,
};
use crate::{Denial, Rule};

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 4;

/// Checks that no expansion spells an option of a tool.
pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let unknown = call.args.iter().take_while(|arg| !arg.is("--"));
    let mut unknown = unknown.filter(|arg| !arg.is_static());
    match unknown.find(|arg| is_spelled(call.context.scope, arg)) {
        Some(arg) => {
            let reason = format!("an expansion may spell an option of {}", call.name);
            Err(Denial::by(Rule::R21, arg.span, reason)
                .instead("write options literally, and begin paths with ./"))
        }
        None => Ok(()),
    }
}

fn is_spelled(scope: &Scope<'_>, arg: &Arg<'_>) -> bool {
    let start = arg.text.as_ref();
    if !start.starts_with('-') {
        return start.is_empty() && may_start_option(scope, &arg.parts, DEEPEST);
    }
    // In `--name=$value` and `-j$count`, the option is known.
    let is_known = start.contains('=') || (start.len() > 1 && !start.starts_with("--"));
    !is_known && is_built(scope, &arg.parts)
}

/// Returns whether the text may spell a value that starts with a dash.
fn may_start_option(scope: &Scope<'_>, parts: &[Part<'_>], depth: usize) -> bool {
    for part in flat_parts(parts) {
        match part {
            Part::Literal(text) | Part::Quoted(text) if text.is_empty() => {}
            Part::Literal(text) | Part::Quoted(text) => return text.starts_with('-'),
            Part::Parameter(parameter) if spells(scope, parameter, depth) => return true,
            Part::CommandSubstitution(inner) if prints_text(scope, &inner.script) => return true,
            // It may be empty.
            Part::Parameter(_) | Part::CommandSubstitution(_) => {}
            _ => return false,
        }
    }
    false
}

/// Returns whether a part transforms a variable of the script, or prints text of the script.
fn is_built(scope: &Scope<'_>, parts: &[Part<'_>]) -> bool {
    flat_parts(parts).any(|part| match part {
        Part::Parameter(parameter) => match parameter.operation {
            Operation::Value => values(scope, parameter)
                .iter()
                .any(|given| matches!(given.value, Value::String { rest, .. } if static_text(rest).is_none())),
            Operation::Length => false,
            _ => true,
        },
        Part::CommandSubstitution(inner) => prints_text(scope, &inner.script),
        _ => false,
    })
}

fn values<'f, 's>(scope: &'f Scope<'s>, parameter: &Parameter<'_>) -> &'f [AssignmentRecord<'s>] {
    let variable = scope.survey().variable(&parameter.name);
    variable.map_or(&[], |variable| &variable.values)
}

/// Returns whether a parameter may spell an option that its values alone do not show.
fn spells(scope: &Scope<'_>, parameter: &Parameter<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return true;
    };
    let text_of = |word: &Word<'_>| static_text(&word.parts).map(|text| text.into_owned());
    let given = values(scope, parameter);
    // Whether a value, or what it is built from, may become an option by a change.
    let any_value = |may_become: &dyn Fn(&str) -> bool| {
        given.iter().any(|given| match given.value {
            Value::String { head, rest } => match static_text(rest) {
                Some(text) => may_become(&format!("{head}{text}")),
                None => {
                    may_become(head) || (head.is_empty() && may_start_option(scope, rest, depth))
                }
            },
            Value::OneOf(words) => words.iter().any(|word| literal_text_may(word, may_become)),
            Value::Array(elements) => elements
                .iter()
                .any(|element| literal_text_may(&element.value, may_become)),
            Value::Number | Value::Unknown => false,
        })
    };
    let starts_with_dash = |text: &str| text.starts_with('-');
    match &parameter.operation {
        Operation::Length | Operation::Names => false,
        Operation::Keys => !given.is_empty(),
        Operation::Value => given.iter().any(|given| match given.value {
            // A known value is judged as it is.
            Value::String { rest, .. } if static_text(rest).is_some() => false,
            Value::String { head: "", rest } => may_start_option(scope, rest, depth),
            Value::String { head, rest } => {
                head.starts_with('-') && !head.contains(['=', ' ']) && is_built(scope, rest)
            }
            Value::OneOf(words) => words.iter().any(|word| {
                static_text(&word.parts).is_none() && may_start_option(scope, &word.parts, depth)
            }),
            Value::Array(elements) => elements.iter().any(|element| {
                let parts = &element.value.parts;
                static_text(parts).is_none() && may_start_option(scope, parts, depth)
            }),
            Value::Unknown => scope.fact(Fact::StoresOptions, stores_options),
            Value::Number => false,
        }),
        // A known word is judged as it is.
        Operation::Substitute { word, .. } => {
            text_of(word).is_none() && may_start_option(scope, &word.parts, depth)
        }
        Operation::Trim { pattern } => {
            let written = scope.text().get(parameter.span.range()).unwrap_or_default();
            let operator = written.find(['#', '%']).map_or("", |at| &written[at..]);
            if operator.starts_with('%') {
                return any_value(&starts_with_dash);
            }
            match text_of(pattern) {
                Some(start) => any_value(&|value| {
                    value
                        .strip_prefix(start.as_str())
                        .unwrap_or(value)
                        .starts_with('-')
                }),
                None if is_up_to_slash(pattern) => {
                    any_value(&|value| value.split('/').any(|name| name.starts_with('-')))
                }
                None => any_value(&|value| value.contains('-')),
            }
        }
        Operation::Replace {
            pattern,
            replacement,
        } => {
            let inserted = replacement.as_ref().map_or(Some(String::new()), text_of);
            match (text_of(pattern), inserted) {
                // The first character stays, unless the pattern matches there.
                (Some(pattern), Some(inserted)) => any_value(&|value| {
                    let changed = value.replace(pattern.as_str(), &inserted);
                    let once = value.replacen(pattern.as_str(), &inserted, 1);
                    value.starts_with('-') || changed.starts_with('-') || once.starts_with('-')
                }),
                (None, Some(inserted)) if !inserted.is_empty() && !inserted.starts_with('-') => {
                    any_value(&starts_with_dash)
                }
                _ => !given.is_empty(),
            }
        }
        Operation::Substring { .. } => any_value(&|value| value.contains('-')),
        Operation::ChangeCase { .. } => any_value(&starts_with_dash),
        Operation::Transform(_) => any_value(&|value| value.contains(['-', '\\'])),
    }
}

/// Returns whether a text stores an option in a variable by `printf -v` or `read`.
fn stores_options(text: &str) -> bool {
    let is_option = |input: &str| input.trim_start_matches([' ', '\'', '"']).starts_with('-');
    text.contains("printf -v")
        || text.split("<<<").skip(1).any(is_option)
        || (text.contains("<<") && text.lines().any(|line| line.starts_with('-')))
}

/// Returns whether `may_become` holds for the literal text of a word.
fn literal_text_may(word: &Word<'_>, may_become: &dyn Fn(&str) -> bool) -> bool {
    let mut text = String::new();
    for part in flat_parts(&word.parts) {
        match part {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            _ => text.push('*'),
        }
    }
    may_become(&text)
}

/// Returns whether a pattern is `*/`, which removes folders.
fn is_up_to_slash(pattern: &Word<'_>) -> bool {
    matches!(&pattern.parts[..], [Part::Glob('*'), Part::Literal(text)] if text == "/")
}

/// Returns whether a script prints text that it spells itself, in whole or changed by a filter.
fn prints_text(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    let Some(item) = script.items.last() else {
        return false;
    };
    let pipelines = item.pipelines.iter();
    pipelines.into_iter().any(|(_, pipeline)| {
        let is_filtered = pipeline.commands.len() > 1;
        let Some(first) = pipeline.commands.first() else {
            return false;
        };
        let CommandKind::Simple(simple) = &first.kind else {
            return false;
        };
        let feeds_text = first
            .redirects
            .iter()
            .any(|redirect| redirect.operator == RedirectOperator::HereString);
        if feeds_text {
            return true;
        }
        let Some((name, words)) = simple.words.split_first() else {
            return false;
        };
        if !matches!(name.static_text().as_deref(), Some("echo" | "printf")) {
            return false;
        }
        let is_own_option = |word: &ArgWord<'_>| {
            matches!(
                word.static_text().as_deref(),
                Some("-n" | "-e" | "-ne" | "-en" | "--")
            )
        };
        let mut words = words.iter().filter(|word| !is_own_option(word)).peekable();
        let may_start = |word: &ArgWord<'_>| match word {
            // The command may replace an escape by a dash.
            ArgWord::Word(word) if word.static_text().is_some_and(|it| it.starts_with('\\')) => {
                true
            }
            ArgWord::Word(word) => may_start_option(scope, &word.parts, DEEPEST - 1),
            ArgWord::Array(_) => true,
        };
        if is_filtered {
            // The filter may change any character of a text that the script knows.
            words.peek().is_some()
                && words.all(|word| word.static_text().is_some() || is_known(scope, word))
        } else {
            words.any(may_start)
        }
    })
}

/// Returns whether a word consists of text and of variables with known values.
fn is_known(scope: &Scope<'_>, word: &ArgWord<'_>) -> bool {
    let ArgWord::Word(word) = word else {
        return false;
    };
    flat_parts(&word.parts).all(|part| match part {
        Part::Literal(_) | Part::Quoted(_) => true,
        Part::Parameter(parameter) => values(scope, parameter).iter().any(
            |given| matches!(given.value, Value::String { rest, .. } if static_text(rest).is_some()),
        ),
        _ => false,
    })
}
