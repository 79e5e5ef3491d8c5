//! Keeps commands from reading places of credentials.

mod file_operands;
mod place_match;
mod possible_paths;
mod program_text;

use std::fmt;

use self::file_operands::Files;
use self::place_match::PlaceMatch;
use super::arg::Arg;
use super::call::{Call, Checked, Owner};
use super::context::Context;
use super::directories::Directories;
use super::file_use::FileUse;
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

pub(crate) use self::place_match::may_hold_places;

/// Checks that no argument of `call` names a place of credentials.
pub(crate) fn check_arguments(call: &Call<'_, '_, '_>) -> Checked {
    if call.name == "xargs" {
        return check_argument_file(call);
    }
    let file_use = FileUse::of_command(call.name);
    if matches!(file_use, FileUse::Checks | FileUse::StartsCommand) {
        return Ok(());
    }
    let mut files = None;
    let may_be_outside = call.here.may_be_outside();
    let holds_none = !may_be_outside && !call.policy().project_holds_credentials();
    for (at, arg) in call.args.iter().enumerate() {
        if holds_none && file_operands::is_innocent(call, arg) {
            continue;
        }
        let files = files.get_or_insert_with(|| Files::of(call));
        let is_program = call.is_of_profile()
            || (matches!(call.name, "echo" | "printf")
                && program_text::is_piped_program(call.context.scope));
        if is_program && program_text::may_be_program(arg) {
            check_program_text(call, &arg.parts, arg)?;
        }
        if !files.may_be_file(call, at, arg) {
            continue;
        }
        for text in file_operands::texts(call, at, arg) {
            for word in file_operands::words(call, &text) {
                check_text(call, arg, word)?;
            }
        }
        check_link(call, arg)?;
    }
    if may_be_outside && file_operands::reads_directories(call) {
        // Without a directory they read the one that they run in.
        check_text(call, &Arg::plain(".", call.span), ".")?;
    }
    Ok(())
}

/// Returns whether an argument that names a file may name a place of credentials, or, for a command
/// that reads whole directories, a directory above one.
///
/// Validators of options with an unusual syntax use it, such as `-F x=@FILE`.
pub(crate) fn is_credential_path(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> bool {
    let texts = possible_paths::of_arg(call.context.scope, file);
    let mut matches = texts
        .iter()
        .filter_map(|text| match_place(call.context, call.here, text));
    matches.any(|found| match found {
        PlaceMatch::Inside(_) => true,
        PlaceMatch::Above(_) => file_operands::reads_directories(call),
    })
}

/// Checks that a file which is opened for reading is in no place of credentials.
pub(crate) fn check_input(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    file: &Arg<'_>,
) -> Checked {
    for text in possible_paths::of_arg(context.scope, file) {
        if let Some(PlaceMatch::Inside(place)) = match_place(context, here, &text) {
            return Err(deny(written(context, file), place, file.span));
        }
    }
    check_real_path(context, here, file)
}

/// Checks that a word which is kept for later, in a variable or a list, names no place of
/// credentials.
pub(crate) fn check_value(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    parts: &[Part<'_>],
    span: Span,
) -> Checked {
    // Most values are plain text without a path.
    if let [Part::Literal(text) | Part::Quoted(text)] = parts
        && !text.contains(['/', '~'])
        && !context.policy.project_holds_credentials()
    {
        return Ok(());
    }
    for text in possible_paths::of_parts(context.scope, parts) {
        if let Some(PlaceMatch::Inside(place)) = match_place(context, here, &text) {
            return Err(deny("this value", place, span));
        }
    }
    Ok(())
}

/// Checks the input that a here-document or here-string passes to the command `name`, which may be a
/// program.
pub(crate) fn check_program_input(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    name: &str,
    parts: &[Part<'_>],
    span: Span,
) -> Checked {
    let program = context.policy.known(name).and_then(|known| known.program);
    let is_program = program.is_some_and(|program| matches!(program.owner, Owner::Profile(_)));
    if name != "xargs" && !is_program {
        return Ok(());
    }
    match program_text::place_in(context, here, parts) {
        Some(place) => Err(deny("this input", place, span)),
        None => Ok(()),
    }
}

/// Checks a here-document or here-string, whose lines may become names of files, or a program.
pub(crate) fn check_here_document(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    parts: &[Part<'_>],
    span: Span,
) -> Checked {
    if file_operands::passes_names(context.scope) {
        for text in possible_paths::of_parts(context.scope, parts) {
            for line in text.lines() {
                if let Some(PlaceMatch::Inside(place)) = match_place(context, here, line.trim()) {
                    return Err(deny("this input", place, span));
                }
            }
        }
    }
    let place = if program_text::is_piped_program(context.scope) {
        program_text::place_in(context, here, parts)
    } else {
        None
    };
    place.map_or(Ok(()), |place| Err(deny("this input", place, span)))
}

/// Checks the file from which `xargs` reads arguments.
fn check_argument_file(call: &Call<'_, '_, '_>) -> Checked {
    for (at, arg) in call.args.iter().enumerate() {
        let before = at
            .checked_sub(1)
            .map_or("", |at| call.args[at].text.as_ref());
        let is_file = matches!(before, "-a" | "--arg-file")
            || arg.text.starts_with("-a")
            || arg.text.starts_with("--arg-file=");
        if is_file {
            for text in possible_paths::of_arg(call.context.scope, arg) {
                check_text(call, arg, &text)?;
            }
        }
    }
    Ok(())
}

fn check_program_text(call: &Call<'_, '_, '_>, parts: &[Part<'_>], arg: &Arg<'_>) -> Checked {
    let plain = [Part::Quoted(arg.text.as_ref().into())];
    let parts = match parts {
        [] => &plain[..],
        parts => parts,
    };
    match program_text::place_in(call.context, call.here, parts) {
        Some(place) => Err(deny("this program", place, arg.span)),
        None => Ok(()),
    }
}

fn check_text(call: &Call<'_, '_, '_>, arg: &Arg<'_>, text: &str) -> Checked {
    for path in file_operands::paths_in(text) {
        let (is_denied, place) = match match_place(call.context, call.here, path) {
            None => continue,
            Some(PlaceMatch::Inside(place)) => (file_operands::reads_files(call), place),
            Some(PlaceMatch::Above(place)) => (file_operands::reads_directories(call), place),
        };
        if is_denied {
            return Err(deny(written(call.context, arg), place, arg.span));
        }
    }
    Ok(())
}

fn match_place(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    path: &str,
) -> Option<PlaceMatch> {
    place_match::find(path, here, context.policy)
}

/// Follows symlinks of a file that a command reads.
fn check_link(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    if file_operands::reads_files(call) {
        check_real_path(call.context, call.here, arg)
    } else {
        Ok(())
    }
}

fn check_real_path(context: &Context<'_, '_>, here: &Directories<'_>, file: &Arg<'_>) -> Checked {
    let (Some(links), Some(text)) = (context.links, file.known()) else {
        return Ok(());
    };
    for place in here.resolve(text).iter().flatten() {
        let Some(real) = links.resolve(place).filter(|real| real != place) else {
            continue;
        };
        if let Some(PlaceMatch::Inside(place)) = match_place(context, here, &real) {
            return Err(deny(written(context, file), place, file.span));
        }
    }
    Ok(())
}

/// Returns an argument as it stands in the text.
fn written(context: &Context<'_, '_>, arg: &Arg<'_>) -> String {
    let text = context.scope.text().get(arg.span.range());
    format!("'{}'", text.unwrap_or(&arg.text))
}

fn deny(what: impl fmt::Display, place: &str, span: Span) -> Denial {
    let reason = format!("{what} leads to credentials ({place})");
    Denial::by(Rule::R94, span, reason)
        .instead("work without credentials: use test values in files of the project")
}
