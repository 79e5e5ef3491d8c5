//! Possible prefixes of a value, as far as the text of the script determines them.

use crate::check::arg::Arg;
use crate::check::scope::Scope;
use crate::check::survey::Value;
use crate::syntax::{CommandKind, Operation, Parameter, Part, Script, Text};

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 8;

/// The prefix of a value.
pub(super) enum ValuePrefix<'t> {
    /// The whole value.
    Whole(&'t str),
    /// This text, followed by something else.
    Text(&'t str),
    /// The value is a number.
    Number,
    /// A path that starts with a slash.
    AbsolutePath,
    /// The output of a command.
    CommandOutput {
        /// The words of the command.
        words: Vec<Text<'t>>,
        /// Whether nothing follows.
        is_whole: bool,
    },
}

/// Returns whether `holds` is true for every possible prefix of `arg`.
pub(super) fn holds_for_all(scope: &Scope<'_>, arg: &Arg<'_>, holds: Holds<'_>) -> bool {
    if arg.is_static() {
        return match arg.globs.first() {
            _ if arg.tilde => holds(ValuePrefix::AbsolutePath),
            None => holds(ValuePrefix::Whole(&arg.text)),
            Some(0) => false,
            Some(at) => holds(ValuePrefix::Text(&arg.text[..*at])),
        };
    }
    if !arg.text.is_empty() {
        return holds(ValuePrefix::Text(&arg.text));
    }
    // The name of the option in the same argument may precede the value.
    let parts = flat(&arg.parts);
    let is_text = |part: &&&Part<'_>| matches!(part, Part::Literal(_) | Part::Quoted(_));
    let named = parts.iter().take_while(is_text).count();
    parts_hold(scope, &parts[named..], String::new(), holds, DEEPEST)
}

/// Decides whether a prefix is acceptable.
type Holds<'h> = &'h dyn Fn(ValuePrefix<'_>) -> bool;

/// Returns the parts, with those in double quotes flattened.
fn flat<'p, 's>(parts: &'p [Part<'s>]) -> Vec<&'p Part<'s>> {
    let inner = parts.iter().map(|part| match part {
        Part::DoubleQuoted(inner) => &inner[..],
        part => std::slice::from_ref(part),
    });
    inner.flatten().collect()
}

/// Returns whether `holds` is true for `parts` after `before`.
fn parts_hold(
    scope: &Scope<'_>,
    parts: &[&Part<'_>],
    before: String,
    holds: Holds<'_>,
    depth: usize,
) -> bool {
    let mut text = before;
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Literal(more) | Part::Quoted(more) => text.push_str(more),
            _ if !text.is_empty() => return holds(ValuePrefix::Text(&text)),
            Part::Tilde(_) => return holds(ValuePrefix::AbsolutePath),
            part if at + 1 == parts.len() => return part_holds(scope, part, holds, depth),
            // It may be empty, and then the next part starts the value.
            part => {
                let followed = |beginning: ValuePrefix<'_>| match beginning {
                    ValuePrefix::Whole("") => true,
                    ValuePrefix::Whole(text) => holds(ValuePrefix::Text(text)),
                    ValuePrefix::Number => holds(ValuePrefix::Text("0")),
                    ValuePrefix::CommandOutput { words, .. } => holds(ValuePrefix::CommandOutput {
                        words,
                        is_whole: false,
                    }),
                    beginning => holds(beginning),
                };
                if !part_holds(scope, part, &followed, depth) {
                    return false;
                }
            }
        }
    }
    holds(ValuePrefix::Whole(&text))
}

fn part_holds(scope: &Scope<'_>, part: &Part<'_>, holds: Holds<'_>, depth: usize) -> bool {
    match part {
        Part::Arithmetic(_) => holds(ValuePrefix::Number),
        Part::Parameter(parameter) => parameter_holds(scope, parameter, holds, depth),
        Part::CommandSubstitution(inner) => match words(&inner.script) {
            Some(words) => holds(ValuePrefix::CommandOutput {
                words,
                is_whole: true,
            }),
            None => false,
        },
        _ => false,
    }
}

fn parameter_holds(
    scope: &Scope<'_>,
    parameter: &Parameter<'_>,
    holds: Holds<'_>,
    depth: usize,
) -> bool {
    match parameter.operation {
        Operation::Length => return holds(ValuePrefix::Number),
        Operation::Value if parameter.subscript.is_none() => {}
        _ => return false,
    }
    let name = parameter.name.as_ref();
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let Some(variable) = scope.survey().variable(name) else {
        return match name {
            "?" | "#" | "$" => holds(ValuePrefix::Number),
            "HOME" | "PWD" => holds(ValuePrefix::AbsolutePath),
            _ => false,
        };
    };
    variable.always(|given| match given.value {
        Value::Number => holds(ValuePrefix::Number),
        Value::String { head, rest } => {
            parts_hold(scope, &flat(rest), head.to_owned(), holds, depth)
        }
        Value::OneOf(words) => words
            .iter()
            .all(|word| parts_hold(scope, &flat(&word.parts), String::new(), holds, depth)),
        Value::Array(_) | Value::Unknown => false,
    })
}

/// Returns the words of a script that is one command without expansions.
fn words<'t>(script: &'t Script<'_>) -> Option<Vec<Text<'t>>> {
    match &script.only_command()?.kind {
        CommandKind::Simple(simple) if simple.assignments.is_empty() => simple.static_words(),
        _ => None,
    }
}
