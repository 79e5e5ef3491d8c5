//! Checks of `[[ .. ]]` conditions.

use super::call::Checked;
use super::context::Context;
use super::directories::Directories;
use super::{assignments, credentials, numeric};
use crate::syntax::{Condition, Word};
use crate::{Denial, Rule};

/// Judges the commands in a condition, and the expressions that it evaluates.
pub(crate) fn check<'w, 's>(
    context: &Context<'w, 's>,
    condition: &'s Condition<'s>,
    here: &Directories<'w>,
) -> Checked {
    match condition {
        Condition::And(left, right) | Condition::Or(left, right) => {
            check(context, left, here)?;
            check(context, right, here)
        }
        Condition::Not(inner, _) | Condition::Group(inner, _) => check(context, inner, here),
        Condition::Word(word) => check_word(context, word, here),
        Condition::Unary {
            operator, operand, ..
        } => {
            check_word(context, operand, here)?;
            match operator.as_ref() {
                "-v" | "-R" => check_name(operand),
                _ => Ok(()),
            }
        }
        Condition::Binary {
            operator,
            left,
            right,
            ..
        } => {
            check_word(context, left, here)?;
            check_word(context, right, here)?;
            match operator.as_ref() {
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                    numeric::check_operand(context.scope, left)?;
                    numeric::check_operand(context.scope, right)
                }
                _ => Ok(()),
            }
        }
    }
}

fn check_word<'w, 's>(
    context: &Context<'w, 's>,
    word: &'s Word<'s>,
    here: &Directories<'w>,
) -> Checked {
    context.word(word, here)?;
    credentials::check_condition(context, here, &word.parts, word.span)
}

fn check_name(word: &Word<'_>) -> Checked {
    let name = word.static_text();
    match name.as_deref() {
        Some(name) if super::builtins::is_identifier(name) => {
            assignments::check_name(name, word.span)
        }
        _ => {
            let reason = "the name of the variable is not a plain name";
            Err(Denial::by(Rule::R12, word.span, reason)
                .instead("write the name literally, without a subscript"))
        }
    }
}
