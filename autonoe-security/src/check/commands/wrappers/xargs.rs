//! `xargs`: runs a command with arguments from its input, which are unknown in advance.

use crate::check::arg::{Arg, Unknown};
use crate::check::assignments;
use crate::check::call::{Call, Checked};
use crate::check::commands::tools::is_one_word;
use crate::check::options::{self, ParsedArg};
use crate::policy::Mode;
use crate::syntax::Span;
use crate::wrapper_options::XARGS;
use crate::{Denial, Rule};

/// Options that control how arguments are built.
#[derive(Default)]
struct Input {
    /// The placeholder that each line replaces.
    placeholder: Option<String>,
    /// Whether lines may be appended nevertheless.
    appends: bool,
    /// Whether each command gets at most one argument.
    is_single: bool,
    /// Whether names are separated by NUL, and nothing else decides what is read.
    is_separated: bool,
    is_other: bool,
}

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (parsed, command) = options::read_leading(call, &XARGS.options)?;
    let mut input = Input::default();
    for parsed in parsed {
        if let ParsedArg::Option { name, value, arg } = parsed {
            option(call, &mut input, &name, value.as_ref(), arg)?;
        }
    }
    let Some(first) = command.first() else {
        return Ok(());
    };
    if first.is("sed") && changes_files(command) {
        return change(call, &input, command);
    }
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

/// Returns whether `sed` with these arguments may change files.
fn changes_files(command: &[Arg<'_>]) -> bool {
    command.iter().any(|arg| {
        let text = arg.text.as_ref();
        let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
        letters.is_some_and(|letters| letters.contains('i')) || text.starts_with("--i")
    })
}

/// Judges `sed -i`, which needs known names.
fn change<'s>(call: &Call<'_, '_, 's>, input: &Input, command: &[Arg<'s>]) -> Checked {
    let follows = |arg: &Arg<'_>| arg.text.starts_with("--fo");
    let is_known = !call.found_names.is_empty()
        && input.is_separated
        && !input.is_other
        && !command.iter().any(follows);
    let inner: Vec<Arg<'_>> = match &input.placeholder {
        _ if !is_known => Vec::new(),
        Some(placeholder) => command
            .iter()
            .flat_map(|arg| match arg.known() {
                Some(text) if text == placeholder => call.found_names.to_vec(),
                _ => vec![replaced(arg, placeholder)],
            })
            .collect(),
        None => {
            let names = call.found_names.iter();
            command.iter().chain(names).cloned().collect()
        }
    };
    if is_known && call.mode() == Mode::Run {
        return call.inner(&inner);
    }
    let mut inner = command.to_vec();
    inner.push(unknown("", command[0].span));
    let Err(denial) = call.inner(&inner) else {
        return Ok(());
    };
    if call.mode() == Mode::Sync || !matches!(denial.rule.as_ref(), "R21" | "R27") {
        return Err(denial);
    }
    let reason = "the names that sed -i would change are unknown";
    Err(Denial::by(Rule::R102, command[0].span, reason).instead(
        "search in a folder of the project for files with an extension, and separate the names by \
         NUL: rg -l0 -g '*.ts' old src | xargs -0 sed -i 's/old/new/', or git grep -lz \
         old -- 'src/*.ts'",
    ))
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
        ("-0" | "--null", _) => input.is_separated = true,
        ("-I" | "-n" | "-P" | "-r" | "-t" | "-x", _)
        | (
            "--replace" | "--max-args" | "--max-procs" | "--no-run-if-empty" | "--verbose"
            | "--exit",
            _,
        ) => {}
        _ => input.is_other = true,
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
