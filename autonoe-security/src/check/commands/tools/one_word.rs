//! Arguments that the shell passes as exactly one word.

use crate::check::arg::Arg;
use crate::syntax::{Operation, Parameter, Part};

/// Returns whether `arg` is one argument whatever its variables hold: it is neither split nor
/// removed.
pub(in crate::check::commands) fn is_one_word(arg: &Arg<'_>) -> bool {
    if arg.is_pattern() {
        return false;
    }
    arg.is_static() || (!arg.parts.is_empty() && arg.parts.iter().all(stays_one_word))
}

fn stays_one_word(part: &Part<'_>) -> bool {
    match part {
        Part::Literal(_) | Part::Quoted(_) | Part::Tilde(_) | Part::Arithmetic(_) => true,
        Part::DoubleQuoted(inner) => inner.iter().all(|part| match part {
            Part::Parameter(parameter) => is_single(parameter),
            _ => true,
        }),
        Part::Parameter(parameter) => {
            parameter.operation == Operation::Length
                || matches!(parameter.name.as_ref(), "?" | "#" | "$" | "!")
        }
        _ => false,
    }
}

/// Returns whether a variable in quotes stays one word; `"$@"` and `"${a[@]}"` do not.
fn is_single(parameter: &Parameter<'_>) -> bool {
    parameter.name != "@"
        && parameter.subscript.is_none()
        && !matches!(
            parameter.operation,
            Operation::Names | Operation::Keys | Operation::Substitute { .. }
        )
}
