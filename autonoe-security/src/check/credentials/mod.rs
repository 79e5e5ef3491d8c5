//! Denies commands that read credential files.

mod file_operands;
mod location_match;
mod name_passing;
mod possible_paths;
mod program_text;

use std::fmt;

use self::location_match::LocationMatch;
use super::arg::Arg;
use super::call::{Call, Checked, Owner};
use super::commands::EVALUATING;
use super::context::Context;
use super::directories::Directories;
use super::file_use::FileUse;
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

pub(crate) use self::file_operands::Files;
pub(crate) use self::location_match::may_contain_credentials;

/// Checks that no argument of `call` names a credential location.
pub(crate) fn check_arguments(call: &Call<'_, '_, '_>) -> Checked {
    if call.name == "xargs" {
        return check_argument_file(call);
    }
    let file_use = FileUse::from_command(call.name);
    let is_exempt = match file_use {
        FileUse::StartsCommand => true,
        // They print nothing, but `$_` is their last argument.
        FileUse::Checks => !name_passing::reuses_arguments(call.context.scope),
        _ => false,
    };
    if is_exempt {
        return Ok(());
    }
    let mut files = None;
    let may_be_outside = call.directories.may_be_outside();
    let holds_none = !may_be_outside && !call.policy().project_holds_credentials();
    for (at, arg) in call.args.iter().enumerate() {
        if holds_none && file_operands::is_certainly_unrelated(call, arg) {
            continue;
        }
        let files = files.get_or_insert_with(|| Files::new(call));
        let is_program = call.is_profile_tool()
            || EVALUATING.contains(&call.name)
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
        // Without a directory they read the current one.
        check_text(call, &Arg::plain(".", call.span), ".")?;
    }
    Ok(())
}

/// Begins a text that may be anything.
pub(crate) use self::possible_paths::CHANGED as ANY_TEXT;

/// Returns the possible texts of an argument, with control characters for unknown parts.
pub(crate) fn possible_texts(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Vec<String> {
    possible_paths::from_arg(call.context.scope, arg)
}

/// Returns the possible paths of an argument that begins with the working directory, as in
/// `"$PWD/include"`, relative to it; `None` for all others.
pub(crate) fn paths_below_working_directory(
    call: &Call<'_, '_, '_>,
    arg: &Arg<'_>,
) -> Option<Vec<String>> {
    let written = call.context.scope.text().get(arg.span.range())?;
    if !arg.text.is_empty() || written.contains("OLDPWD") {
        return None;
    }
    let texts = possible_paths::from_arg(call.context.scope, arg);
    let below = texts.iter().map(|text| {
        let (_, rest) = text.split_once(possible_paths::PROJECT)?;
        (!rest.contains(char::is_control)).then(|| format!(".{rest}"))
    });
    below.collect()
}

/// Returns whether a file argument may name a credential location, or, for a command that reads
/// whole directories, a directory above one.
///
/// Used by validators of options with an unusual syntax, such as `-F x=@FILE`.
pub(crate) fn is_credential_path(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> bool {
    let texts = possible_paths::from_arg(call.context.scope, file);
    let mut matches = texts
        .iter()
        .filter_map(|text| match_place(call.context, call.directories, text));
    matches.any(|found| match found {
        LocationMatch::Inside(_) => true,
        LocationMatch::Above(_) => file_operands::reads_directories(call),
    })
}

/// Checks that a file opened for reading is not in a credential location.
pub(crate) fn check_input(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    file: &Arg<'_>,
) -> Checked {
    for text in possible_paths::from_arg(context.scope, file) {
        if leads_anywhere(here, &text) {
            return Err(deny_detour(source_text(context, file), file.span));
        }
        if let Some(LocationMatch::Inside(place)) = match_place(context, here, &text) {
            return Err(deny(source_text(context, file), place, file.span));
        }
    }
    check_real_path(context, here, file)
}

/// Checks that a word stored in a variable or a list names no credential location.
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
    for text in possible_paths::from_parts(context.scope, parts) {
        if let Some(LocationMatch::Inside(place)) = match_place(context, here, &text) {
            return Err(deny("this value", place, span));
        }
    }
    Ok(())
}

/// Checks a word of `[[ ]]`: the shell keeps parts of it in `BASH_REMATCH`.
pub(crate) fn check_condition(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    parts: &[Part<'_>],
    span: Span,
) -> Checked {
    if name_passing::reuses_arguments(context.scope) {
        check_value(context, here, parts, span)
    } else {
        Ok(())
    }
}

/// Checks the input that a here-document or here-string passes to the command `name`, which may
/// interpret it as a program.
pub(crate) fn check_program_input(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    name: &str,
    parts: &[Part<'_>],
    span: Span,
) -> Checked {
    let program = context.policy.known(name).and_then(|known| known.program);
    let is_program = program.is_some_and(|program| matches!(program.owner, Owner::Profile(_)));
    if name != "xargs" && !is_program && !EVALUATING.contains(&name) {
        return Ok(());
    }
    match program_text::find_credential_location(context, here, parts) {
        Some(place) => Err(deny("this input", place, span)),
        None => Ok(()),
    }
}

/// Form in which a text becomes the input of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A here-document, which is often prose.
    Document,
    /// A here-string, which `read` splits into words.
    String,
}

/// Returns the possible names in a line of input.
fn names_in(line: &str, input: Input) -> impl Iterator<Item = &str> {
    let words = match input {
        Input::Document => "",
        Input::String => line,
    };
    let words = words.split([' ', '\t', ':', ',', ';', '=', '|']);
    std::iter::once(line.trim()).chain(words)
}

/// Checks a here-document or here-string, whose lines may become file names or a program.
pub(crate) fn check_here_document(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    input: Input,
    parts: &[Part<'_>],
    span: Span,
) -> Checked {
    if name_passing::passes_names(context.scope) {
        for text in possible_paths::from_parts(context.scope, parts) {
            for line in text.lines().flat_map(|line| names_in(line, input)) {
                if let Some(LocationMatch::Inside(place)) = match_place(context, here, line) {
                    return Err(deny("this input", place, span));
                }
            }
        }
    }
    let place = if program_text::is_piped_program(context.scope) {
        program_text::find_credential_location(context, here, parts)
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
        // The long option may be abbreviated.
        let is_option = |text: &str| {
            let name = text.split('=').next().unwrap_or(text);
            text.starts_with("-a") || (name.len() > 2 && "--arg-file".starts_with(name))
        };
        let is_file = is_option(before) || is_option(&arg.text);
        if is_file {
            for text in possible_paths::from_arg(call.context.scope, arg) {
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
    match program_text::find_credential_location(call.context, call.directories, parts) {
        Some(place) => Err(deny("this program", place, arg.span)),
        None => Ok(()),
    }
}

fn check_text(call: &Call<'_, '_, '_>, arg: &Arg<'_>, text: &str) -> Checked {
    for path in file_operands::paths_in(text) {
        if leads_anywhere(call.directories, path) && file_operands::reads_files(call) {
            return Err(deny_detour(source_text(call.context, arg), arg.span));
        }
        let (is_denied, place) = match match_place(call.context, call.directories, path) {
            None => continue,
            Some(LocationMatch::Inside(place)) => (file_operands::reads_files(call), place),
            Some(LocationMatch::Above(place)) => (file_operands::reads_directories(call), place),
        };
        if is_denied {
            return Err(deny(source_text(call.context, arg), place, arg.span));
        }
    }
    Ok(())
}

fn match_place(
    context: &Context<'_, '_>,
    here: &Directories<'_>,
    path: &str,
) -> Option<LocationMatch> {
    location_match::find(path, here, context.policy)
}

/// Returns whether a path goes up behind a name that may be a symlink, outside of the project.
fn leads_anywhere(here: &Directories<'_>, path: &str) -> bool {
    // The home, and what is not known.
    let is_known = !path.starts_with(|first: char| first == '~' || first.is_control());
    path.contains("/..") && is_known && here.ascends_past_link(path)
}

fn deny_detour(construct: impl fmt::Display, span: Span) -> Denial {
    let reason = format!("{construct} goes up behind a name that may be a symlink");
    Denial::by(Rule::R94, span, reason).instead("write the path without ..")
}

/// Resolves symlinks of a file that a command reads.
fn check_link(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    if file_operands::reads_files(call) {
        check_real_path(call.context, call.directories, arg)
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
        if let Some(LocationMatch::Inside(place)) = match_place(context, here, &real) {
            return Err(deny(source_text(context, file), place, file.span));
        }
    }
    Ok(())
}

/// Returns the source text of an argument.
fn source_text(context: &Context<'_, '_>, arg: &Arg<'_>) -> String {
    let text = context.scope.text().get(arg.span.range());
    format!("'{}'", text.unwrap_or(&arg.text))
}

fn deny(construct: impl fmt::Display, place: &str, span: Span) -> Denial {
    let reason = format!("{construct} leads to credentials ({place})");
    Denial::by(Rule::R94, span, reason)
        .instead("work without credentials: use test values in files of the project")
}
