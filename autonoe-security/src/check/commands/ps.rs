//! `ps`: listing processes without their environments.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::check::{numeric, process_memory};
use crate::option_table::OptionTable;

const PS: OptionTable = options!(
    "C:G:O:U:g:k:n:o:p:q:s:t:u:",
    "Group= User= cols= columns= format= group= lines= pid= ppid= quick-pid= rows= sid= sort= tty=",
    "user= width=",
);

/// Options without a dash that take the next argument as their value.
const VALUES_WITHOUT_DASH: &str = "OUknopqt";

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut is_value = false;
    for parsed in options::read(call, &PS)? {
        match parsed {
            // On macOS it prints environments.
            ParsedArg::Option { name, arg, .. } if name == "-E" => {
                return Err(call.deny_flag(Rule::R24, &name, arg.span));
            }
            ParsedArg::Option {
                value: Some(value), ..
            } => check_format(&value)?,
            ParsedArg::Option { .. } => {}
            ParsedArg::Operand(value) if is_value => {
                is_value = false;
                check_format(value)?;
            }
            ParsedArg::Operand(flags) => {
                check_flags(call, flags)?;
                is_value = flags.text.ends_with(|c| VALUES_WITHOUT_DASH.contains(c));
            }
        }
    }
    Ok(())
}

/// Checks options without a dash, as in `ps aux`: an `e` prints environments.
fn check_flags(call: &Call<'_, '_, '_>, flags: &Arg<'_>) -> Checked {
    let text = flags.text.as_ref();
    let is_list_of_processes = text.starts_with(|c: char| c.is_ascii_digit());
    let part = flags.unknown.and_then(|unknown| unknown.part);
    let is_number = part.is_some_and(|part| numeric::is_safe_part(call.context.scope, part));
    if !flags.is_static() && text.is_empty() && !is_number {
        return Err(call
            .deny(Rule::R24, "an option of ps may print environments")
            .instead("use ps aux, or ps -p with the number of a process"));
    }
    if text.contains('e') && !is_list_of_processes {
        Err(call.deny_flag(Rule::R24, text, flags.span))
    } else {
        Ok(())
    }
}

/// Checks that a list of columns does not include the environment.
fn check_format(value: &Arg<'_>) -> Checked {
    if value.text.contains("environ") {
        Err(process_memory::deny(&value.text, value.span))
    } else {
        Ok(())
    }
}
