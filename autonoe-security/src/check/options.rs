//! Options in every spelling that tools accept.

use super::arg::Arg;
use super::call::Call;
use crate::Denial;
use crate::option_table::{OptionArity, OptionTable};

/// An element of a command line.
#[derive(Debug)]
pub(crate) enum ParsedArg<'c, 's> {
    /// An option: its name with dashes, a long one in full, and its value.
    Option {
        name: String,
        value: Option<Arg<'s>>,
        /// The argument that contains it.
        arg: &'c Arg<'s>,
    },
    /// An argument that is not an option.
    Operand(&'c Arg<'s>),
}

/// Reads the arguments of `call`: options and operands mixed, options up to `--`.
///
/// A dynamic argument that may turn into an option is denied.
pub(crate) fn read<'c, 's>(
    call: &Call<'c, '_, 's>,
    table: &OptionTable,
) -> Result<Vec<ParsedArg<'c, 's>>, Denial> {
    read_args(call, call.args, table, Order::Mixed).map(|(parsed, _)| parsed)
}

/// Reads options before the first operand, and returns them and the remaining arguments.
pub(crate) fn read_leading<'c, 's>(
    call: &Call<'c, '_, 's>,
    table: &OptionTable,
) -> Result<(Vec<ParsedArg<'c, 's>>, &'c [Arg<'s>]), Denial> {
    let (parsed, used) = read_args(call, call.args, table, Order::OptionsFirst)?;
    Ok((parsed, &call.args[used..]))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Mixed,
    OptionsFirst,
}

fn read_args<'c, 's>(
    call: &Call<'_, '_, 's>,
    args: &'c [Arg<'s>],
    table: &OptionTable,
    order: Order,
) -> Result<(Vec<ParsedArg<'c, 's>>, usize), Denial> {
    let mut parsed = Vec::with_capacity(args.len());
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_ref();
        if arg.is("--") {
            at += 1;
            if order == Order::Mixed {
                parsed.extend(args[at..].iter().map(ParsedArg::Operand));
                at = args.len();
            }
            break;
        }
        if !text.starts_with('-') || text == "-" && arg.is_static() {
            if !call.is_option_safe(arg) {
                return Err(call.deny_dynamic(arg));
            }
            if order == Order::OptionsFirst {
                break;
            }
            parsed.push(ParsedArg::Operand(arg));
            at += 1;
            continue;
        }
        at += 1;
        let next = args.get(at);
        let took_next = match text.strip_prefix("--") {
            Some(long) => read_long(call, arg, long, next, table, &mut parsed)?,
            None => read_short(call, arg, next, table, &mut parsed)?,
        };
        at += usize::from(took_next);
    }
    Ok((parsed, at))
}

/// Reads a long option, and returns whether it consumed the next argument.
fn read_long<'c, 's>(
    call: &Call<'_, '_, 's>,
    arg: &'c Arg<'s>,
    long: &str,
    next: Option<&Arg<'s>>,
    table: &OptionTable,
    parsed: &mut Vec<ParsedArg<'c, 's>>,
) -> Result<bool, Denial> {
    let (name, attached) = match long.split_once('=') {
        Some((name, _)) => (name, Some(arg.without_first(2 + name.len() + 1))),
        // Its name is partially unknown.
        None if !arg.is_static() => return Err(call.deny_dynamic(arg)),
        None => (long, None),
    };
    let known = full_name(table, name);
    let takes = known.map_or(OptionArity::Attached, |(_, takes)| takes);
    let name = format!("--{}", known.map_or(name, |(name, _)| name));
    let took_next = takes == OptionArity::Value && attached.is_none() && next.is_some();
    if took_next {
        stays_one(call, next)?;
    }
    let value = attached.or_else(|| took_next.then(|| next.cloned()).flatten());
    parsed.push(ParsedArg::Option { name, value, arg });
    Ok(took_next)
}

/// Checks that the value of an option stays one argument, as far as the script determines.
fn stays_one(call: &Call<'_, '_, '_>, value: Option<&Arg<'_>>) -> Result<(), Denial> {
    match value {
        Some(value) if value.is_pattern() || call.may_shift(value) => Err(call.deny_dynamic(value)),
        _ => Ok(()),
    }
}

/// Returns the long option that `name` refers to: an exact match, or the only option with this
/// prefix.
fn full_name(table: &OptionTable, name: &str) -> Option<(&'static str, OptionArity)> {
    let exact = table.long.iter().find(|(long, _)| *long == name);
    let mut beginning = table.long.iter().filter(|(long, _)| long.starts_with(name));
    let only = match (beginning.next(), beginning.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    exact.or(only).copied()
}

/// Reads a cluster of short options, and returns whether they consumed the next argument.
fn read_short<'c, 's>(
    call: &Call<'_, '_, 's>,
    arg: &'c Arg<'s>,
    next: Option<&Arg<'s>>,
    table: &OptionTable,
    parsed: &mut Vec<ParsedArg<'c, 's>>,
) -> Result<bool, Denial> {
    let text = arg.text.as_ref();
    for (at, letter) in text.char_indices().skip(1) {
        let name = format!("-{letter}");
        let after = at + letter.len_utf8();
        let is_last = after == text.len() && arg.is_static();
        let takes = table.letter(letter).unwrap_or(OptionArity::Nothing);
        let has_value = matches!(takes, OptionArity::Value | OptionArity::Attached);
        let attached = (has_value && !is_last).then(|| arg.without_first(after));
        let took_next = takes == OptionArity::Value && attached.is_none() && next.is_some();
        if took_next {
            stays_one(call, next)?;
        }
        let value = attached.or_else(|| took_next.then(|| next.cloned()).flatten());
        parsed.push(ParsedArg::Option { name, value, arg });
        if has_value {
            return Ok(took_next);
        }
    }
    // More letters may follow.
    if arg.is_static() {
        Ok(false)
    } else {
        Err(call.deny_dynamic(arg))
    }
}
