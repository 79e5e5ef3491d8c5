//! `env`: sets variables for a command and starts it.

use std::borrow::Cow;

use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::builtins::{enter_path, is_identifier};
use crate::check::call::{Call, Checked};
use crate::check::commands::git;
use crate::check::commands::tools::is_one_word;
use crate::check::extensions;
use crate::{Denial, Rule};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut args = call.args;
    let mut handed = call.wrapper_variables.to_vec();
    let mut here = Cow::Borrowed(call.directories);
    while let [first, rest @ ..] = args {
        let text = first.text.as_ref();
        if let Some((name, _)) = text.split_once('=').filter(|(name, _)| is_identifier(name)) {
            variable(call, first, name)?;
            handed.push(name.to_owned());
            args = rest;
            continue;
        }
        let Some(option) = first.known().filter(|text| text.starts_with('-')) else {
            break;
        };
        args = rest;
        match option {
            "--" => {
                // Variables may follow.
                args = after_variables(call, args, &mut handed)?;
                break;
            }
            "-i" | "-" | "--ignore-environment" => {
                // A shell does not set them again, or not reliably.
                let removed = ["HOME", "PWD", "OLDPWD", git::SETTINGS];
                handed.extend(removed.map(str::to_owned));
            }
            "-0" | "--null" => {}
            _ => match Valued::parse(option, first, rest) {
                Some((Valued::Unset, name, took_next)) => {
                    let name = name.known().filter(|name| !assignments::is_protected(name));
                    let Some(name) = name else {
                        return Err(call.deny_flag(Rule::R85, option, first.span));
                    };
                    handed.push(name.to_owned());
                    args = &rest[usize::from(took_next)..];
                }
                Some((Valued::Chdir, folder, took_next)) if here.as_ref() == call.directories => {
                    here = Cow::Owned(enter_path(call, &folder)?);
                    args = &rest[usize::from(took_next)..];
                }
                _ => return Err(call.deny_flag(Rule::R85, option, first.span)),
            },
        }
    }
    if args.is_empty() && !extensions::is_unrestricted(call) {
        return Err(call
            .deny(Rule::R85, "env without a command prints every variable")
            .instead("print one variable with echo \"$NAME\""));
    }
    call.start(args, &here, &handed)
}

/// An option that takes a value.
enum Valued {
    Unset,
    Chdir,
}

impl Valued {
    /// Reads `option` and its value, and whether the value is the next argument.
    fn parse<'s>(option: &str, arg: &Arg<'s>, rest: &[Arg<'s>]) -> Option<(Self, Arg<'s>, bool)> {
        let next = || rest.first().cloned();
        Some(match option {
            "-u" | "--unset" => (Self::Unset, next()?, true),
            "-C" | "--chdir" => (Self::Chdir, next()?, true),
            _ => {
                let attached = |prefix: &str| {
                    option
                        .starts_with(prefix)
                        .then(|| arg.without_first(prefix.len()))
                };
                if let Some(name) = attached("--unset=").or_else(|| attached("-u")) {
                    (Self::Unset, name, false)
                } else {
                    (
                        Self::Chdir,
                        attached("--chdir=").or_else(|| attached("-C"))?,
                        false,
                    )
                }
            }
        })
    }
}

/// Checks the variables before the command, and returns the command.
fn after_variables<'c, 's>(
    call: &Call<'_, '_, '_>,
    mut args: &'c [Arg<'s>],
    handed: &mut Vec<String>,
) -> Result<&'c [Arg<'s>], Denial> {
    while let [first, rest @ ..] = args {
        let Some((name, _)) = first
            .text
            .split_once('=')
            .filter(|(name, _)| is_identifier(name))
        else {
            break;
        };
        variable(call, first, name)?;
        handed.push(name.to_owned());
        args = rest;
    }
    Ok(args)
}

fn variable(call: &Call<'_, '_, '_>, arg: &Arg<'_>, name: &str) -> Checked {
    // Otherwise its value may end where the command starts.
    if !is_one_word(arg) {
        return Err(call.deny_dynamic(arg));
    }
    assignments::check_argument(call, arg, name)
}
