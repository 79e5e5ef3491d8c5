//! `read`, `mapfile`, `unset`, `getopts` and `printf`: builtins that set variables by name.

use super::names;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};

/// Reads options that are single letters, and returns the remaining arguments.
///
/// `free` options take nothing, `values` take a value, and `named` take the name of a variable.
fn after_options<'c, 's>(
    call: &Call<'c, '_, 's>,
    free: &str,
    values: &str,
    named: &str,
) -> Result<&'c [Arg<'s>], crate::Denial> {
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        let Some(text) = first.text.strip_prefix('-').filter(|text| !text.is_empty()) else {
            break;
        };
        args = rest;
        if first.is("--") {
            break;
        }
        names::check_literal_option(first)?;
        let mut took_value = false;
        for (at, letter) in text.char_indices() {
            if free.contains(letter) {
                continue;
            }
            if !values.contains(letter) && !named.contains(letter) {
                return Err(call.deny_flag(Rule::R12, &format!("-{letter}"), first.span));
            }
            let after = at + letter.len_utf8();
            let attached = after < text.len() || !first.is_static();
            let value = if attached {
                Some(first.without_first(1 + after))
            } else {
                args.first().cloned()
            };
            if !attached {
                args = args.get(1..).unwrap_or_default();
            }
            let is_several = |value: &&Arg<'_>| value.is_pattern() || call.may_shift(value);
            if let Some(value) = value.as_ref().filter(is_several) {
                return Err(call.deny_dynamic(value));
            }
            if let Some(value) = value.filter(|_| named.contains(letter)) {
                names::check(&value)?;
            }
            took_value = true;
            break;
        }
        if !took_value && !first.is_static() {
            return Err(call.deny_dynamic(first));
        }
    }
    Ok(args)
}

fn check_names(args: &[Arg<'_>]) -> Checked {
    args.iter().try_for_each(names::check)
}

pub(super) fn read(call: &Call<'_, '_, '_>) -> Checked {
    check_names(after_options(call, "rs", "nNtpd", "a")?)
}

pub(super) fn mapfile(call: &Call<'_, '_, '_>) -> Checked {
    check_names(after_options(call, "t", "nsOd", "")?)
}

pub(super) fn unset(call: &Call<'_, '_, '_>) -> Checked {
    check_names(after_options(call, "v", "", "")?)
}

pub(super) fn getopts(call: &Call<'_, '_, '_>) -> Checked {
    if let Some(first) = call
        .args
        .first()
        .filter(|first| call.splits_into_more(first))
    {
        return Err(call.deny_dynamic(first));
    }
    match call.args.get(1) {
        Some(name) => names::check(name),
        None => Ok(()),
    }
}

pub(super) fn printf(call: &Call<'_, '_, '_>) -> Checked {
    let mut args = call.args;
    // The option may occur more than once.
    while let [first, rest @ ..] = args {
        let Some(name) = first.text.strip_prefix("-v") else {
            break;
        };
        names::check_literal_option(first)?;
        args = match (name.is_empty() && first.is_static(), rest) {
            (true, [name, rest @ ..]) => {
                names::check(name)?;
                rest
            }
            (true, []) => rest,
            (false, rest) => {
                names::check(&first.without_first(2))?;
                rest
            }
        };
    }
    let Some(first) = args.first() else {
        return Ok(());
    };
    if sets_variables(first, &args[1..]) {
        let reason = "printf sets variables with %n";
        return Err(call
            .deny(Rule::R12, reason)
            .instead("write the format literally, without %n"));
    }
    let is_wild = first.is_pattern() && first.text.starts_with(['*', '?', '[', '-']);
    if call.is_option_safe(first) && !is_wild {
        Ok(())
    } else {
        Err(call
            .deny(
                Rule::R12,
                "the format of printf is unknown and could be an option",
            )
            .instead("write the format literally: printf '%s\\n' \"$x\""))
    }
}

/// Returns whether a format of printf contains `%n`, or may contain it, with a variable left to
/// set.
fn sets_variables(format: &Arg<'_>, rest: &[Arg<'_>]) -> bool {
    if !format.is_static() {
        return !rest.is_empty();
    }
    let mut conversions = format.text.split('%').skip(1);
    while let Some(conversion) = conversions.next() {
        if conversion.is_empty() {
            // `%%` is a plain character; the text after it is not a conversion.
            conversions.next();
            continue;
        }
        let shape = |c: char| c.is_ascii_digit() || "-+ #'.*hlLjzt".contains(c);
        if conversion.trim_start_matches(shape).starts_with('n') {
            return true;
        }
    }
    // Escapes are decoded first.
    format.text.contains("\\x") || format.text.contains("\\u") || has_octal(&format.text)
}

/// Returns whether there is an octal escape such as `\045`.
fn has_octal(text: &str) -> bool {
    let mut behind = text.split('\\').skip(1);
    behind.any(|rest| rest.starts_with(|c: char| c.is_digit(8)) && rest.starts_with("04"))
}
