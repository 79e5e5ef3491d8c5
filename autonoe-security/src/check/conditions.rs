//! `[[ .. ]]`.

use super::call::Checked;
use super::context::Context;
use super::directories::Directories;
use super::{assignments, numeric};
use crate::syntax::{Condition, Word};
use crate::{Denial, Rule};

/// Judges the commands in a condition, and what it evaluates.
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
        Condition::Word(word) => context.word(word, here),
        Condition::Unary {
            operator, operand, ..
        } => {
            context.word(operand, here)?;
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
            context.word(left, here)?;
            context.word(right, here)?;
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
