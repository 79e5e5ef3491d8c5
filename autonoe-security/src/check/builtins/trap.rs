//! `trap`: commands that the shell runs on exit or on a signal.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::scope::{Inherited, Scope};
use crate::check::{nested, processes};
use crate::syntax::{ArgWord, Operation, Part, Span, commands, parse};
use crate::{Denial, Rule};

/// Signals on which the shell exits or continues.
const SIGNALS: &[&str] = words!("INT TERM HUP QUIT ERR");

/// Builtins that change the meaning of the commands after the trap, besides those that set
/// variables.
const CHANGING: &[&str] = words!("cd shopt source . command");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let args = match call.args {
        [first, rest @ ..] if first.is("--") => rest,
        args => args,
    };
    match args {
        [only] if only.is("-l") || only.is("-p") => Ok(()),
        [action, signals @ ..] if !signals.is_empty() => {
            let mut runs_in_between = false;
            for signal in signals {
                let name = signal.known().unwrap_or_default();
                let name = name.strip_prefix("SIG").unwrap_or(name);
                if !matches!(name, "EXIT" | "0") && !SIGNALS.contains(&name) {
                    return Err(deny(signal.span, "the signal of a trap is not listed"));
                }
                runs_in_between |= SIGNALS.contains(&name);
            }
            // These reset a trap, or ignore the signal.
            if action.is("-") || action.is("") {
                return Ok(());
            }
            check_action(call, action, runs_in_between)
        }
        _ => Err(deny(call.span, "a trap needs commands and a signal")),
    }
}

fn check_action(call: &Call<'_, '_, '_>, action: &Arg<'_>, runs_in_between: bool) -> Checked {
    let Some(text) = text_of(call, action) else {
        return Err(deny(
            action.span,
            "the commands of a trap are unknown until they run",
        ));
    };
    let script = parse(&text).map_err(|error| deny(action.span, &error.to_string()))?;
    let own = Scope::new(&text, &script, Inherited::default());
    let mut changes = runs_in_between && own.survey().names().next().is_some();
    for command in commands(&script) {
        let name = command.words.first().and_then(ArgWord::static_text);
        let name = name.as_deref().unwrap_or_default();
        changes |= matches!(name, "set" | "trap") || (runs_in_between && CHANGING.contains(&name));
        call.context.report.inner(name, action.span);
    }
    if changes {
        let reason = "the commands of a trap change what later commands mean";
        return Err(deny(action.span, reason));
    }
    let survey = call.context.scope.survey();
    let (children, unknown) = survey
        .names()
        .map(str::to_owned)
        .partition(|name| processes::is_own_variable(call.context.scope, name));
    let inherited = Inherited {
        unknown,
        children,
        is_nested: true,
    };
    nested::check_in(
        call,
        &text,
        action.span,
        call.directories.anywhere(),
        inherited,
    )
}

/// Returns the commands of a trap: literal text, in which ids of own processes may be inserted.
fn text_of(call: &Call<'_, '_, '_>, action: &Arg<'_>) -> Option<String> {
    if action.known().is_some() {
        return action.is_literal().then(|| action.text.to_string());
    }
    let [Part::DoubleQuoted(inner)] = &action.parts[..] else {
        return None;
    };
    let mut text = String::new();
    for part in inner {
        match part {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            Part::Parameter(parameter) if parameter.operation == Operation::Value => {
                if !processes::are_job(call.context.scope, std::slice::from_ref(part)) {
                    return None;
                }
                // The id must be a separate word.
                if !text.is_empty() && !text.ends_with(' ') {
                    return None;
                }
                text.push_str(&format!("${}", parameter.name));
            }
            _ => return None,
        }
    }
    Some(text)
}

fn deny(span: Span, reason: &str) -> Denial {
    Denial::by(Rule::R89, span, reason.to_owned())
        .instead("write trap 'COMMANDS' EXIT with literal commands in single quotes")
}
