//! How a value begins, as far as the text of the script tells.

use crate::check::arg::Arg;
use crate::check::scope::Scope;
use crate::check::survey::Value;
use crate::syntax::{CommandKind, Operation, Parameter, Part, Script, Text};

/// How many variables are followed that are set to one another.
const DEEPEST: usize = 8;

/// How a value begins.
pub(super) enum Beginning<'t> {
    /// It is this.
    Whole(&'t str),
    /// With this text, and then something else.
    Text(&'t str),
    /// It is a number.
    Number,
    /// With a path that begins with a slash.
    Place,
    /// With what a command prints.
    Printed {
        /// The words of the command.
        words: Vec<Text<'t>>,
        /// Whether nothing follows.
        is_whole: bool,
    },
}

/// Tells whether `holds` for every way in which `arg` may begin.
pub(super) fn all(scope: &Scope<'_>, arg: &Arg<'_>, holds: Holds<'_>) -> bool {
    if arg.is_static() {
        return match arg.globs.first() {
            _ if arg.tilde => holds(Beginning::Place),
            None => holds(Beginning::Whole(&arg.text)),
            Some(0) => false,
            Some(at) => holds(Beginning::Text(&arg.text[..*at])),
        };
    }
    if !arg.text.is_empty() {
        return holds(Beginning::Text(&arg.text));
    }
    // The name of the option that it is written together with may stand in front.
    let parts = flat(&arg.parts);
    let is_text = |part: &&&Part<'_>| matches!(part, Part::Literal(_) | Part::Quoted(_));
    let named = parts.iter().take_while(is_text).count();
    parts_hold(scope, &parts[named..], String::new(), holds, DEEPEST)
}

/// Tells whether a beginning is good.
type Holds<'h> = &'h dyn Fn(Beginning<'_>) -> bool;

/// Returns the parts, and those that stand in double quotes.
fn flat<'p, 's>(parts: &'p [Part<'s>]) -> Vec<&'p Part<'s>> {
    let inner = parts.iter().map(|part| match part {
        Part::DoubleQuoted(inner) => &inner[..],
        part => std::slice::from_ref(part),
    });
    inner.flatten().collect()
}

/// Tells whether it holds for `parts` behind `before`.
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
            _ if !text.is_empty() => return holds(Beginning::Text(&text)),
            Part::Tilde(_) => return holds(Beginning::Place),
            part if at + 1 == parts.len() => return part_holds(scope, part, holds, depth),
            // It may be empty, and then what follows begins the value.
            part => {
                let followed = |beginning: Beginning<'_>| match beginning {
                    Beginning::Whole("") => true,
                    Beginning::Whole(text) => holds(Beginning::Text(text)),
                    Beginning::Number => holds(Beginning::Text("0")),
                    Beginning::Printed { words, .. } => holds(Beginning::Printed {
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
    holds(Beginning::Whole(&text))
}

fn part_holds(scope: &Scope<'_>, part: &Part<'_>, holds: Holds<'_>, depth: usize) -> bool {
    match part {
        Part::Arithmetic(_) => holds(Beginning::Number),
        Part::Parameter(parameter) => parameter_holds(scope, parameter, holds, depth),
        Part::CommandSubstitution(inner) => match words(&inner.script) {
            Some(words) => holds(Beginning::Printed {
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
        Operation::Length => return holds(Beginning::Number),
        Operation::Value if parameter.subscript.is_none() => {}
        _ => return false,
    }
    let name = parameter.name.as_ref();
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let Some(variable) = scope.survey().variable(name) else {
        return match name {
            "?" | "#" | "$" => holds(Beginning::Number),
            "HOME" | "PWD" => holds(Beginning::Place),
            _ => false,
        };
    };
    variable.always(|given| match given.value {
        Value::Number => holds(Beginning::Number),
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
