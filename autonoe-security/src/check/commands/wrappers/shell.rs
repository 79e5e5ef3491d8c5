//! Shells: a text is judged as the script that it is; a script file is the user's affair.

use crate::check::arg::Arg;
use crate::check::builtins::shell_options::is_harmless_mode;
use crate::check::call::{Call, Checked};
use crate::check::{nested, path};
use crate::{Denial, Rule};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (takes_text, args) = behind_options(call)?;
    match args {
        [script, ..] if takes_text => text(call, script),
        [] if takes_text => Ok(()),
        [file, ..] if file.known().is_some_and(|file| is_file(call, file)) => Ok(()),
        // It would read commands from somewhere.
        _ => Err(call
            .deny(
                Rule::R72,
                format!("{} would read commands that nobody has seen", call.name),
            )
            .instead("name a script file, or use -c with literal text")),
    }
}

/// Returns whether `-c` is among the options, and what follows them.
fn behind_options<'c, 's>(call: &Call<'c, '_, 's>) -> Result<(bool, &'c [Arg<'s>]), Denial> {
    let mut args = call.args;
    let mut takes_text = false;
    while let [first, rest @ ..] = args {
        let mut rest = rest;
        match first.known() {
            Some("--norc" | "--noprofile" | "--posix" | "--login") => {}
            Some("--") => return Ok((takes_text, rest)),
            Some(option) if option.starts_with('-') && !option.starts_with("--") => {
                let letters = &option[1..];
                if letters.is_empty() || !letters.bytes().all(|it| b"ceuxvfElno".contains(&it)) {
                    return Err(call.deny_flag(Rule::R72, option, first.span));
                }
                takes_text |= letters.contains('c');
                // Each takes a name of its own.
                for _ in letters.matches('o') {
                    rest = behind_mode(call, rest)?;
                }
            }
            Some(option) if option.starts_with(['-', '+']) => {
                return Err(call.deny_flag(Rule::R72, option, first.span));
            }
            _ => break,
        }
        args = rest;
    }
    Ok((takes_text, args))
}

/// Returns what follows the name behind `-o`.
fn behind_mode<'c, 's>(
    call: &Call<'c, '_, 's>,
    args: &'c [Arg<'s>],
) -> Result<&'c [Arg<'s>], Denial> {
    match args {
        [name, rest @ ..] if name.known().is_some_and(is_harmless_mode) => Ok(rest),
        [name, ..] => Err(call.deny_flag(Rule::R72, &name.text, name.span)),
        [] => Err(call.deny_flag(Rule::R72, "-o", call.span)),
    }
}

fn text(call: &Call<'_, '_, '_>, script: &Arg<'_>) -> Checked {
    let deny = |reason: &'static str, instead: &'static str| {
        Err(Denial::by(Rule::R72, script.span, reason).instead(instead))
    };
    if !script.is_static() {
        return deny(
            "the commands are not known before they run",
            "write them literally",
        );
    }
    let text = script.text.as_ref();
    if call.name != "bash" && !nested::is_same_in_every_shell(text) {
        return deny(
            "not every shell reads this text as Bash does",
            "use bash -c, or simpler commands",
        );
    }
    nested::check(call, text, script.span)
}

/// Tells whether `file` is a file, and not what is piped in.
fn is_file(call: &Call<'_, '_, '_>, file: &str) -> bool {
    let is_device = |place: &String| {
        let mut devices = ["/dev", "/proc"].into_iter();
        devices.any(|folder| path::is_within(place, folder))
    };
    let places = call.here.resolve(file);
    file != "-" && places.is_some_and(|places| !places.iter().any(is_device))
}
