//! `jar`: lists and creates archives.

use super::launcher::argument_file;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{check_source, is_in_reach};
use crate::check::write_target::{Root, escapes};
use crate::{Denial, Rule};

const INSTEAD: &str = "use jar tf FILE, or jar cf FILE -C FOLDER .";

/// Long options with the letter that means the same.
const LONG: &[(&str, char)] = &[
    ("--create", 'c'),
    ("--list", 't'),
    ("--file", 'f'),
    ("--manifest", 'm'),
    ("--main-class", 'e'),
    ("--no-manifest", 'M'),
    ("--no-compress", '0'),
    ("--verbose", 'v'),
    ("--module-version", 'V'),
    ("--date", 'D'),
];

/// The options of one call.
#[derive(Default)]
struct Action<'s> {
    creates: bool,
    lists: bool,
    archive: Option<Arg<'s>>,
    manifest: Option<Arg<'s>>,
}

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    if let Some(file) = call.args.iter().find(|arg| arg.text.starts_with('@')) {
        return Err(argument_file(file));
    }
    // The launcher takes these from every place, also instead of a value.
    if let Some(arg) = call.args.iter().find(|arg| arg.text.starts_with("-J")) {
        return Err(refuse(call, arg));
    }
    if let [only] = call.args
        && matches!(only.known(), Some("--version" | "--help" | "-h"))
    {
        return Ok(());
    }
    let mut action = Action::default();
    let mut files = Vec::new();
    let mut args = call.args;
    let mut is_first = true;
    while let [first, rest @ ..] = args {
        args = rest;
        let text = first.text.as_ref();
        let is_letters = !text.starts_with("--") && (is_first || text.starts_with('-'));
        is_first = false;
        if first.is("-C") {
            let (Some(folder), Some(file)) = (rest.first(), rest.get(1)) else {
                return Err(refuse(call, first));
            };
            check_folder(call, folder)?;
            files.push(file);
            args = &rest[2..];
        } else if is_letters {
            let Some(letters) = first.known() else {
                return Err(call.deny_dynamic(first));
            };
            for letter in letters.trim_start_matches('-').chars() {
                args = option(call, &mut action, letter, first, None, args)?;
            }
        } else if text.starts_with("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, _)) => (name, Some(first.without_first(name.len() + 1))),
                None => (text, None),
            };
            let letter = LONG.iter().find(|(long, _)| *long == name);
            let Some((_, letter)) = letter.filter(|_| first.is_static() || value.is_some()) else {
                return Err(refuse(call, first));
            };
            args = option(call, &mut action, *letter, first, value, args)?;
        } else if call.is_option_safe(first) {
            files.push(first);
        } else {
            return Err(call.deny_dynamic(first));
        }
    }
    finish(call, &action, &files)
}

/// Reads one option, and returns the arguments behind its value.
fn option<'c, 's>(
    call: &Call<'_, '_, 's>,
    action: &mut Action<'s>,
    letter: char,
    arg: &Arg<'s>,
    attached: Option<Arg<'s>>,
    rest: &'c [Arg<'s>],
) -> Result<&'c [Arg<'s>], Denial> {
    let takes_next = matches!(letter, 'f' | 'm' | 'e') && attached.is_none();
    let value = attached.or_else(|| rest.first().filter(|_| takes_next).cloned());
    match letter {
        'c' => action.creates = true,
        't' => action.lists = true,
        'f' => action.archive = value,
        'm' => action.manifest = value,
        'e' | 'v' | '0' | 'M' => {}
        'V' | 'D' if value.is_some() => {}
        _ => return Err(refuse(call, arg)),
    }
    Ok(if takes_next {
        rest.get(1..).unwrap_or_default()
    } else {
        rest
    })
}

fn finish(call: &Call<'_, '_, '_>, action: &Action<'_>, files: &[&Arg<'_>]) -> Checked {
    if action.creates == action.lists {
        return Err(call
            .deny(Rule::R100, "jar may create and list archives only")
            .instead(INSTEAD));
    }
    if let Some(manifest) = &action.manifest {
        check_source(call, Rule::R100, manifest)?;
    }
    if action.creates {
        if let Some(archive) = &action.archive {
            call.check_write_target(archive, Root::Refused)?;
        }
        // The archive would otherwise contain files of other folders.
        return files.iter().try_for_each(|file| {
            let fixed = file.globs.first().map_or(file.text.len(), |at| *at);
            if file.tilde || file.is_in_home() || !is_in_reach(call, &file.text[..fixed]) {
                Err(escapes(file, Rule::R100))
            } else {
                Ok(())
            }
        });
    }
    Ok(())
}

fn check_folder(call: &Call<'_, '_, '_>, folder: &Arg<'_>) -> Checked {
    match folder.known() {
        Some(text) if is_in_reach(call, text) => Ok(()),
        Some(_) => Err(escapes(folder, Rule::R100)),
        None => Err(call.deny_dynamic(folder)),
    }
}

fn refuse(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Denial {
    let flag = arg.text.split('=').next().unwrap_or_default();
    call.deny_flag(Rule::R100, flag, arg.span).instead(INSTEAD)
}
