//! `declare`, `typeset`, `local`, `readonly` and `export`: declarations of variables.

use super::names;
use crate::check::arg::Arg;
use crate::check::assignments::{self, Setting};
use crate::check::call::{Call, Checked};
use crate::syntax::{Part, Subscript};
use crate::{Denial, Rule};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut makes_array = false;
    let mut exports = call.name == "export";
    let mut operands = call.args;
    while let [first, rest @ ..] = operands {
        let Some(letters) = first
            .text
            .strip_prefix(['-', '+'])
            .filter(|text| !text.is_empty())
        else {
            break;
        };
        operands = rest;
        if first.is("--") {
            break;
        }
        if !first.is_static() {
            return Err(call.deny_dynamic(first));
        }
        names::check_literal_option(first)?;
        for letter in letters.chars() {
            let is_fine = match call.name {
                "export" => matches!(letter, 'n'),
                _ => matches!(letter, 'a' | 'A' | 'r' | 'x' | 'g' | 'l' | 'u'),
            };
            if !is_fine {
                return Err(call.deny_flag(Rule::R12, &format!("-{letter}"), first.span));
            }
            makes_array |= matches!(letter, 'a' | 'A');
            exports |= letter == 'x';
        }
    }
    if operands.is_empty() && call.arrays.is_empty() {
        let reason = format!("{} without a name prints every variable", call.name);
        return Err(call.deny(Rule::R12, reason).instead("name a variable"));
    }
    for array in call.arrays {
        assignments::check_name(&array.name, array.span)?;
    }
    let setting = if exports {
        Setting::Exported
    } else {
        Setting::Unexported
    };
    operands
        .iter()
        .try_for_each(|operand| check_operand(call, operand, makes_array, setting))
}

/// Checks `NAME` or `NAME=value`.
fn check_operand(
    call: &Call<'_, '_, '_>,
    operand: &Arg<'_>,
    makes_array: bool,
    setting: Setting,
) -> Checked {
    let Some((name, head)) = operand.text.split_once('=') else {
        return match setting {
            Setting::Exported => names::check_export(call, operand),
            _ => names::check(operand),
        };
    };
    let plain = name.strip_suffix('+').unwrap_or(name);
    let is_pattern = operand.globs.iter().any(|at| *at < name.len());
    if !names::is_identifier(plain) || is_pattern || !names_are_written_out(&operand.parts) {
        let reason = "the name of the variable is not a plain name";
        return Err(Denial::by(Rule::R12, operand.span, reason)
            .instead("write the name literally, without a subscript"));
    }
    if head.starts_with('(') {
        let reason = "a string that begins with '(' would be read as an array";
        return Err(
            Denial::by(Rule::R12, operand.span, reason).instead("write NAME=( .. ) unquoted")
        );
    }
    let is_unquoted = operand.unknown.is_some_and(|unknown| !unknown.quoted);
    let is_plainly_named =
        matches!(operand.parts.first(), Some(Part::Literal(first)) if first.contains('='));
    let may_split = is_unquoted && (!call.is_bare || !is_plainly_named || lists_words(operand));
    if operand.braced || may_split {
        let reason = "the argument may become several";
        return Err(Denial::by(Rule::R12, operand.span, reason)
            .instead("put the value in double quotes, without braces"));
    }
    let survey = call.context.scope.survey();
    let is_array = survey
        .variable(plain)
        .is_some_and(|variable| variable.is_array);
    if !operand.is_static() && (makes_array || is_array) {
        let reason = "the value of an array is unknown until it runs";
        return Err(Denial::by(Rule::R12, operand.span, reason)
            .instead("write the elements as NAME=( .. )"));
    }
    let value = if plain == name {
        value_of(operand)
    } else {
        // The appended-to value is unknown.
        None
    };
    let (policy, here) = (call.policy(), call.directories);
    let value = value.as_deref();
    assignments::check(policy, here, plain, value, setting, operand.span)
}

/// Returns whether the text before `=` is literal.
fn names_are_written_out(parts: &[Part<'_>]) -> bool {
    let name = parts.iter().find_map(|part| match part {
        Part::Literal(text) | Part::Quoted(text) => text.contains('=').then_some(true),
        Part::DoubleQuoted(inner) => Some(names_are_written_out(inner)),
        _ => Some(false),
    });
    // Plain text has no parts.
    name.unwrap_or(parts.is_empty())
}

/// Returns whether a quoted list makes several words: `"${a[@]}"`.
fn lists_words(operand: &Arg<'_>) -> bool {
    operand.parts.iter().any(|part| match part {
        Part::DoubleQuoted(inner) => inner.iter().any(|part| match part {
            Part::Parameter(parameter) => {
                parameter.name == "@" || parameter.subscript == Some(Subscript::All)
            }
            _ => false,
        }),
        _ => false,
    })
}

/// Returns the value after `NAME=`.
fn value_of<'s>(operand: &Arg<'s>) -> Option<Vec<Part<'s>>> {
    if operand.is_static() {
        let (_, value) = operand.text.split_once('=')?;
        return Some(vec![Part::Quoted(value.to_owned().into())]);
    }
    let (Part::Literal(first) | Part::Quoted(first), rest) = operand.parts.split_first()? else {
        return None;
    };
    let (_, head) = first.split_once('=')?;
    let mut value = vec![Part::Quoted(head.to_owned().into())];
    value.extend_from_slice(rest);
    Some(value)
}
