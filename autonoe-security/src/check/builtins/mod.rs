//! Checks of shell builtins.

mod cd;
mod declare;
mod jobs;
mod names;
pub(super) mod shell_options;
mod source;
mod test;
mod trap;
mod variables;

use super::arg::Arg;
use super::call::{Call, Checked, Validator};
use crate::{Denial, Rule};

pub(crate) use cd::{enter, enter_path};
pub(crate) use names::is_identifier;

/// Every name that [`find`] knows.
pub(crate) const NAMES: &[&str] = words!(
    ": true false echo pwd exit return break continue shift disown type test [ printf getopts read",
    "mapfile readarray unset export declare typeset local readonly jobs wait kill set shopt source",
    ". eval exec trap alias unalias enable hash bind builtin complete compgen compopt fc history",
    "pushd popd dirs umask ulimit let fg bg suspend logout help caller times",
);

/// Finds the validator of the builtin `name`; `None` if the shell has no such builtin.
///
/// `cd` and `command` are judged separately, because they affect the working directory.
pub(crate) fn find(name: &str) -> Option<Validator> {
    Some(match name {
        ":" | "true" | "false" | "echo" | "pwd" | "exit" | "return" | "break" | "continue"
        | "shift" | "disown" | "type" => free,
        "test" | "[" => test::check,
        "printf" => variables::printf,
        "getopts" => variables::getopts,
        "read" => variables::read,
        "mapfile" | "readarray" => variables::mapfile,
        "unset" => variables::unset,
        "export" | "declare" | "typeset" | "local" | "readonly" => declare::check,
        "jobs" => jobs::jobs,
        "wait" => jobs::wait,
        "kill" => jobs::kill,
        "set" => shell_options::set,
        "shopt" => shell_options::shopt,
        "source" | "." => source::check,
        "trap" => trap::check,
        "umask" | "ulimit" => print_limit,
        "eval" | "exec" | "alias" | "unalias" | "enable" | "hash" | "bind" | "builtin"
        | "complete" | "compgen" | "compopt" | "fc" | "history" | "pushd" | "popd" | "dirs"
        | "let" | "fg" | "bg" | "suspend" | "logout" | "help" | "caller" | "times" => refused,
        _ => return None,
    })
}

fn free(_: &Call<'_, '_, '_>) -> Checked {
    Ok(())
}

/// `umask` and `ulimit` print the limits of the shell; with a value they would change them.
fn print_limit(call: &Call<'_, '_, '_>) -> Checked {
    let is_option = |arg: &Arg<'_>| {
        let letters = arg.known().and_then(|text| text.strip_prefix('-'));
        letters.is_some_and(|it| !it.is_empty() && it.bytes().all(|c| c.is_ascii_alphabetic()))
    };
    if call.args.len() <= 1 && call.args.iter().all(is_option) {
        Ok(())
    } else {
        refused(call)
    }
}

fn refused(call: &Call<'_, '_, '_>) -> Checked {
    let reason = format!("Command '{}' is not in the allowlist", call.name);
    Err(call.deny(Rule::R8, reason).instead(match call.name {
        "pushd" | "popd" => "use (cd DIR && COMMAND)",
        _ => "run the commands directly",
    }))
}

/// Returns the command that `command` runs; `None` if it only describes a name.
pub(crate) fn command_operand<'c, 's>(
    call: &Call<'c, '_, 's>,
) -> Result<Option<&'c [Arg<'s>]>, Denial> {
    let mut rest = call.args;
    while let Some((first, others)) = rest.split_first() {
        if first.text.starts_with('-') {
            names::check_literal_option(first)?;
        }
        match first.known() {
            Some("-v" | "-V" | "-pv" | "-pV") => return Ok(None),
            Some("-p") => rest = others,
            Some("--") => return Ok(Some(others)),
            Some(option) if option.starts_with('-') => {
                return Err(call.deny_flag(Rule::R9, option, first.span));
            }
            _ => return Ok(Some(rest)),
        }
    }
    Err(call
        .deny(Rule::R9, "command has nothing to run")
        .instead("name the command"))
}
