//! `env`: variables, and then a command.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::assignments::{self, Setting};
use crate::check::builtins::is_identifier;
use crate::check::call::{Call, Checked};
use crate::check::commands::tools::is_one_word;
use crate::syntax::Part;

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut args = call.args;
    let mut handed = call.handed.to_vec();
    while let [first, rest @ ..] = args {
        let text = first.text.as_ref();
        if let Some((name, _)) = text.split_once('=').filter(|(name, _)| is_identifier(name)) {
            variable(call, first, name)?;
            handed.push(name.to_owned());
            args = rest;
            continue;
        }
        match first.known() {
            Some("-i" | "-" | "--ignore-environment") => {
                // A shell does not set them again, or not for sure.
                handed.extend(["HOME", "PWD", "OLDPWD"].map(str::to_owned));
                args = rest;
            }
            Some("-0" | "--null") => args = rest,
            Some("-u" | "--unset") => {
                let name = rest.first().and_then(|name| name.known());
                match name {
                    Some(name) if !assignments::is_protected(name) => {
                        handed.push(name.to_owned());
                        args = rest.get(1..).unwrap_or_default();
                    }
                    _ => return Err(call.deny_flag(Rule::R72, "-u", first.span)),
                }
            }
            Some("--") => {
                args = rest;
                break;
            }
            Some(option) if option.starts_with('-') => {
                return Err(call.deny_flag(Rule::R72, option, first.span));
            }
            _ => break,
        }
    }
    call.inner_with(args, &handed)
}

fn variable(call: &Call<'_, '_, '_>, arg: &Arg<'_>, name: &str) -> Checked {
    // Otherwise its value may end where the command begins.
    if !is_one_word(arg) {
        return Err(call.deny_dynamic(arg));
    }
    let value = match arg.is_static() {
        true => Some([Part::Quoted(arg.text[name.len() + 1..].to_owned().into())]),
        false => None,
    };
    assignments::check(
        call.policy(),
        call.here,
        name,
        value.as_ref().map(|value| &value[..]),
        Setting::Other,
        arg.span,
    )
}
