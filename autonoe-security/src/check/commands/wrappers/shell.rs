//! Shells: the text of `-c` is judged as a script, and a script file must be in the project.

use crate::check::arg::Arg;
use crate::check::builtins::shell_options::is_harmless_mode;
use crate::check::call::{Call, Checked};
use crate::check::commands::{java, scripts};
use crate::check::{extensions, nested, path, protected_state};
use crate::syntax::Part;
use crate::{Denial, Rule};

/// The options of a shell, and the arguments after them.
struct Invocation<'c, 's> {
    /// Whether `-c` is given.
    takes_text: bool,
    /// Whether `-n` is given: the script is only read.
    only_reads: bool,
    /// Whether `--` ends the options.
    is_ended: bool,
    args: &'c [Arg<'s>],
}

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let Invocation {
        takes_text,
        only_reads,
        is_ended,
        args,
    } = invocation(call)?;
    let positional = args.get(1..).unwrap_or_default();
    let project = call.policy().project_dir();
    let is_mentioned_in = |text: &str| protected_state::is_mentioned_in(text, project);
    if let Some(arg) = positional.iter().find(|arg| arg.mentions(is_mentioned_in)) {
        let is_run_state = arg.mentions(protected_state::names_run_state);
        return Err(protected_state::deny(call.name, is_run_state, arg.span));
    }
    match args {
        [script, ..] if takes_text => text(call, script),
        [] if takes_text || only_reads => Ok(()),
        [file, ..] if only_reads && (is_ended || is_no_option(call, file)) => Ok(()),
        [file, ..] if extensions::is_unrestricted(call) => {
            if file.known().is_some_and(|file| is_file(call, file)) {
                Ok(())
            } else {
                Err(unknown_script(call))
            }
        }
        [file, ..] if file.known().is_some_and(|file| file != "-") => {
            scripts::check(call, &file.text, file.span)?;
            java::check_wrapper(call, &file.text, &args[1..])
        }
        // The shell would read commands from its input.
        _ => Err(unknown_script(call)),
    }
}

/// Returns whether a file that is only read can never be an option, such as `+n`.
fn is_no_option(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> bool {
    let is_plus = |text: &str| text.is_empty() || text.starts_with('+');
    let part = file.unknown.and_then(|unknown| unknown.part);
    let words = part.and_then(|part| call.context.scope.loop_words(part, file.span.start()));
    let is_started = match words {
        Some(words) if file.text.is_empty() => words.iter().all(|word| match word.parts.first() {
            Some(Part::Literal(text) | Part::Quoted(text)) => !is_plus(text),
            _ => false,
        }),
        _ => !is_plus(&file.text) && file.globs.first() != Some(&0),
    };
    is_started && call.is_option_safe(file)
}

fn unknown_script(call: &Call<'_, '_, '_>) -> Denial {
    call.deny(
        Rule::R85,
        format!(
            "{} would run commands that the policy cannot see",
            call.name
        ),
    )
    .instead("run the commands directly, or use bash -c with literal text")
}

/// Reads the options.
fn invocation<'c, 's>(call: &Call<'c, '_, 's>) -> Result<Invocation<'c, 's>, Denial> {
    let mut found = Invocation {
        takes_text: false,
        only_reads: false,
        is_ended: false,
        args: call.args,
    };
    while let [first, rest @ ..] = found.args {
        let mut rest = rest;
        match first.known() {
            Some("--norc" | "--noprofile" | "--login") => {}
            Some("--") => {
                found.is_ended = true;
                found.args = rest;
                break;
            }
            Some(option) if option.starts_with('-') && !option.starts_with("--") => {
                let letters = &option[1..];
                if letters.is_empty() || !letters.bytes().all(|it| b"ceuxvfElno".contains(&it)) {
                    return Err(call.deny_flag(Rule::R85, option, first.span));
                }
                found.takes_text |= letters.contains('c');
                found.only_reads |= letters.contains('n');
                // Each takes its own name.
                for _ in letters.matches('o') {
                    rest = after_mode(call, rest)?;
                }
            }
            Some(option) if option.starts_with(['-', '+']) => {
                return Err(call.deny_flag(Rule::R85, option, first.span));
            }
            _ => break,
        }
        found.args = rest;
    }
    Ok(found)
}

/// Returns the arguments after the name of `-o`.
fn after_mode<'c, 's>(
    call: &Call<'c, '_, 's>,
    args: &'c [Arg<'s>],
) -> Result<&'c [Arg<'s>], Denial> {
    match args {
        [name, rest @ ..] if name.known().is_some_and(is_harmless_mode) => Ok(rest),
        [name, ..] => Err(call.deny_flag(Rule::R85, &name.text, name.span)),
        [] => Err(call.deny_flag(Rule::R85, "-o", call.span)),
    }
}

fn text(call: &Call<'_, '_, '_>, script: &Arg<'_>) -> Checked {
    let deny = |reason: &'static str, instead: &'static str| {
        Err(Denial::by(Rule::R85, script.span, reason).instead(instead))
    };
    let Some(text) = script.known() else {
        // `xargs -I{}` puts its input into the text.
        let is_input = script.unknown.is_some_and(|unknown| unknown.part.is_none());
        return deny(
            "the commands are unknown until they run",
            match is_input {
                true => "use a loop over files: for f in src/*.ts; do grep -c x \"$f\"; done",
                false => "write them literally, in single quotes",
            },
        );
    };
    // If an assignment was skipped, its variable is empty.
    let texts = [Some(text), script.without_variables.as_deref()];
    for text in texts.into_iter().flatten() {
        if call.name != "bash" && !nested::is_same_in_every_shell(text) {
            return deny(
                "other shells can read this text differently than Bash",
                "use bash -c, or simpler commands",
            );
        }
        nested::check(call, text, script.span)?;
    }
    Ok(())
}

/// Returns whether `file` is a file, and not a device that provides input.
fn is_file(call: &Call<'_, '_, '_>, file: &str) -> bool {
    let is_device = |place: &String| {
        let mut devices = ["/dev", "/proc"].into_iter();
        devices.any(|folder| path::is_within(place, folder))
    };
    let places = call.directories.resolve(file);
    file != "-" && places.is_some_and(|places| !places.iter().any(is_device))
}
