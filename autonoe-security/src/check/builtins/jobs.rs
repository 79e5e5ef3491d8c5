//! `jobs`, `wait` and `kill`: background jobs of this very command.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::survey::Value;
use crate::syntax::{Operation, Parameter, Part};
use crate::{Denial, Rule};

pub(super) fn jobs(call: &Call<'_, '_, '_>) -> Checked {
    for arg in call.args {
        match arg.known() {
            Some(text) if is_listing(text) || text.starts_with('%') => {}
            _ => return Err(call.deny_flag(Rule::R8, &arg.text, arg.span)),
        }
    }
    Ok(())
}

pub(super) fn wait(call: &Call<'_, '_, '_>) -> Checked {
    for arg in call.args {
        let is_fine = match arg.known() {
            Some("-n" | "-f" | "-nf" | "-fn" | "--") => true,
            Some(text) => is_job(text) || is_number(text),
            None => is_own_process(call, arg),
        };
        if !is_fine {
            let reason = "wait is given something else than a job of this command";
            return Err(Denial::by(Rule::R8, arg.span, reason)
                .instead("use wait alone, wait %1, or wait $!"));
        }
    }
    Ok(())
}

pub(super) fn kill(call: &Call<'_, '_, '_>) -> Checked {
    let mut args = call.args.iter().peekable();
    if let Some(&first) = args.peek()
        && let Some(option) = first.known().and_then(|text| text.strip_prefix('-'))
    {
        let is_signal_name =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match option {
            "l" | "L" => return Ok(()),
            "s" | "n" => {
                args.next();
                let signal = args.next().and_then(|signal| signal.known());
                if !signal.is_some_and(is_signal_name) {
                    return Err(call.deny_flag(Rule::R9, &first.text, first.span));
                }
            }
            "-" => {
                args.next();
            }
            signal if is_signal_name(signal) => {
                args.next();
            }
            _ => return Err(call.deny_flag(Rule::R9, &first.text, first.span)),
        }
    }
    for arg in args {
        let is_fine = match arg.known() {
            Some("--") => true,
            Some(text) => is_job(text),
            None => is_own_process(call, arg),
        };
        if !is_fine {
            let reason = "kill may only end jobs that this command has started";
            return Err(Denial::by(Rule::R9, arg.span, reason)
                .instead("use kill %1, kill $!, or pkill with a development process"));
        }
    }
    Ok(())
}

/// Tells whether options of `jobs` only shape the list.
fn is_listing(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        !letters.is_empty() && letters.bytes().all(|letter| b"lnprs".contains(&letter))
    })
}

fn is_job(text: &str) -> bool {
    text.starts_with('%')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells whether an argument is `$!`, or a variable that only ever holds it.
fn is_own_process(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    let [part] = &arg.parts[..] else {
        return false;
    };
    let Some(parameter) = plain_parameter(part) else {
        return false;
    };
    if parameter.name == "!" {
        return true;
    }
    let variable = call.walk.scope.survey().variable(&parameter.name);
    variable.is_some_and(|variable| {
        variable.always(|given| match given.value {
            Value::String {
                head: "",
                rest: [part],
            } => plain_parameter(part).is_some_and(|parameter| parameter.name == "!"),
            _ => false,
        })
    })
}

fn plain_parameter<'p, 's>(part: &'p Part<'s>) -> Option<&'p Parameter<'s>> {
    match part {
        Part::Parameter(parameter) => (parameter.operation == Operation::Value
            && parameter.subscript.is_none())
        .then_some(parameter),
        Part::DoubleQuoted(inner) => match &inner[..] {
            [part] => plain_parameter(part),
            _ => None,
        },
        _ => None,
    }
}
