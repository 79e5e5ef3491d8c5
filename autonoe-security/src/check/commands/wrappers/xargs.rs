//! `xargs`: runs a command with arguments from its input, which are unknown in advance.

use crate::Rule;
use crate::check::arg::{Arg, Unknown};
use crate::check::assignments;
use crate::check::call::{Call, Checked};
use crate::check::commands::tools::is_one_word;
use crate::check::options::{self, ParsedArg};
use crate::syntax::Span;
use crate::wrapper_options::XARGS;

/// Options that control how arguments are built.
#[derive(Default)]
struct Input {
    /// The placeholder that each line replaces.
    placeholder: Option<String>,
    /// Whether lines may be appended nevertheless.
    appends: bool,
    /// Whether each command gets at most one argument.
    is_single: bool,
}

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (seen, command) = options::read_leading(call, &XARGS.options)?;
    let mut input = Input::default();
    for seen in seen {
        if let ParsedArg::Option { name, value, arg } = seen {
            option(call, &mut input, &name, value.as_ref(), arg)?;
        }
    }
    let Some(first) = command.first() else {
        return Ok(());
    };
    let mut inner: Vec<Arg<'_>> = match &input.placeholder {
        Some(placeholder) => command
            .iter()
            .map(|arg| replaced(arg, placeholder))
            .collect(),
        None => command.to_vec(),
    };
    if input.placeholder.is_none() || input.appends {
        // The first may be the value of an option, but then the next one is not.
        let count = if input.is_single { 1 } else { 2 };
        inner.extend((0..count).map(|_| unknown("", first.span)));
    }
    call.inner(&inner)
}

fn option(
    call: &Call<'_, '_, '_>,
    input: &mut Input,
    name: &str,
    value: Option<&Arg<'_>>,
    arg: &Arg<'_>,
) -> Checked {
    if let Some(value) = value.filter(|value| !is_one_word(value)) {
        return Err(call.deny_dynamic(value));
    }
    match (name, value) {
        ("-I" | "-i" | "--replace", value) => {
            let placeholder = value.map_or(Some("{}"), |value| value.known());
            match placeholder.filter(|text| !text.is_empty()) {
                Some(text) => input.placeholder = Some(text.to_owned()),
                None => return Err(call.deny_flag(Rule::R85, name, arg.span)),
            }
        }
        ("-n" | "--max-args", value) => {
            input.appends = true;
            input.is_single = value.is_some_and(|value| value.is("1"));
        }
        ("-L" | "-l" | "--max-lines", _) => {
            input.appends = true;
            input.is_single = false;
        }
        ("--process-slot-var", Some(variable)) => match variable.known() {
            Some(variable) => assignments::check_name(variable, arg.span)?,
            None => return Err(call.deny_dynamic(variable)),
        },
        _ => {}
    }
    if XARGS.has_option(name) {
        Ok(())
    } else {
        Err(call.deny_flag(Rule::R85, name, arg.span))
    }
}

/// Returns `arg` with `placeholder` replaced by an input line: it is known up to there.
fn replaced<'s>(arg: &Arg<'s>, placeholder: &str) -> Arg<'s> {
    match arg.text.find(placeholder) {
        Some(at) => unknown(&arg.text[..at], arg.span),
        None => arg.clone(),
    }
}

fn unknown<'s>(head: &str, span: Span) -> Arg<'s> {
    let mut arg = Arg::plain(head.to_owned(), span);
    arg.unknown = Some(Unknown {
        part: None,
        quoted: true,
    });
    arg
}
