//! `make`: recipes of the project's own makefiles.

use super::scripts::runs_code_of_project;
use crate::check::arg::Arg;
use crate::check::assignments::{self, Setting};
use crate::check::builtins::{enter_path, is_identifier};
use crate::check::call::{Call, Checked};
use crate::check::directories::Directories;
use crate::check::options::{self, Seen, Table, Takes};
use crate::check::write_target::escapes;
use crate::check::{extensions, path, symlinks};
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

const MAKE: Table = Table {
    short_values: "fCIoWE",
    short_maybe: "jlO",
    long: &[
        ("always-make", Takes::Nothing),
        ("debug", Takes::Maybe),
        ("directory", Takes::Value),
        ("dry-run", Takes::Nothing),
        ("eval", Takes::Value),
        ("file", Takes::Value),
        ("help", Takes::Nothing),
        ("ignore-errors", Takes::Nothing),
        ("include-dir", Takes::Value),
        ("jobs", Takes::Maybe),
        ("just-print", Takes::Nothing),
        ("keep-going", Takes::Nothing),
        ("load-average", Takes::Maybe),
        ("makefile", Takes::Value),
        ("no-builtin-rules", Takes::Nothing),
        ("no-builtin-variables", Takes::Nothing),
        ("no-keep-going", Takes::Nothing),
        ("no-print-directory", Takes::Nothing),
        ("no-silent", Takes::Nothing),
        ("output-sync", Takes::Maybe),
        ("print-data-base", Takes::Nothing),
        ("print-directory", Takes::Nothing),
        ("question", Takes::Nothing),
        ("quiet", Takes::Nothing),
        ("recon", Takes::Nothing),
        ("silent", Takes::Nothing),
        ("stop", Takes::Nothing),
        ("trace", Takes::Nothing),
        ("version", Takes::Nothing),
        ("warn-undefined-variables", Takes::Nothing),
    ],
};

/// Short options that change neither what runs nor where.
const FLAGS: &str = "BdhijklnOpqrRsSvw";

/// Makefiles that are read when none is named.
const MAKEFILES: &[&str] = words!("GNUmakefile makefile Makefile");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    if extensions::is_opened(call) {
        return Ok(());
    }
    runs_code_of_project(call, "makefiles")?;
    let mut folder = None;
    let mut files = Vec::new();
    for seen in options::read(call, &MAKE)? {
        match seen {
            Seen::Operand(operand) => check_operand(call, operand)?,
            Seen::Option { name, value, arg } => match (name.as_str(), value) {
                ("-C" | "--directory", Some(value)) if folder.is_none() => folder = Some(value),
                ("-f" | "--file" | "--makefile", Some(value)) => files.push(value),
                (name, _) if is_flag(name, arg) => {}
                (name, _) => return Err(call.deny_flag(Rule::R88, name, arg.span)),
            },
        }
    }
    let here = match &folder {
        Some(folder) => enter_path(call, folder)?,
        None => call.here.clone(),
    };
    if files.is_empty() {
        return MAKEFILES
            .iter()
            .try_for_each(|name| check_file(call, &here, &Arg::plain(*name, call.span)));
    }
    files
        .iter()
        .try_for_each(|file| check_file(call, &here, file))
}

/// Returns whether an option is harmless, and written in full.
fn is_flag(name: &str, arg: &Arg<'_>) -> bool {
    match name.strip_prefix("--") {
        None => FLAGS.contains(&name[1..]),
        Some(long) => {
            let is_listed = MAKE
                .long
                .iter()
                .any(|(known, takes)| *known == long && *takes != Takes::Value);
            is_listed && arg.text.split('=').next() == Some(name)
        }
    }
}

/// Checks that a makefile is a file of the project.
fn check_file(call: &Call<'_, '_, '_>, here: &Directories<'_>, file: &Arg<'_>) -> Checked {
    let project = call.policy().project_dir();
    let text = file.known().filter(|text| *text != "-");
    let Some(places) = text.and_then(|text| here.resolve(text)) else {
        return Err(escapes(file, Rule::R88));
    };
    for place in &places {
        let is_of_project = path::is_within(place, project)
            && place != project
            && !path::is_protected(&place[project.len()..]);
        if !is_of_project {
            return Err(escapes(file, Rule::R88));
        }
        symlinks::check_in_project(call.context, place, file.span)?;
    }
    Ok(())
}

/// Checks a target, or a variable that is set for the makefile.
fn check_operand(call: &Call<'_, '_, '_>, operand: &Arg<'_>) -> Checked {
    let Some(text) = operand.known() else {
        return Err(deny_operand(operand.span));
    };
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _./:,=+@%-".contains(&byte))
    };
    if !is_plain(text) {
        // make expands `$(..)`, and recipes hand the rest to a shell.
        return Err(deny_operand(operand.span));
    }
    let Some((name, value)) = text.split_once('=') else {
        return check_target(operand);
    };
    let name = name.trim_end_matches([':', '+']);
    if !is_identifier(name) || assignments::is_makes_own(name) {
        return Err(deny_operand(operand.span));
    }
    let value = [Part::Quoted(value.to_owned().into())];
    let (policy, here, span) = (call.policy(), call.here, operand.span);
    // Recipes get it in their environment.
    assignments::check(policy, here, name, Some(&value), Setting::Exported, span)
}

/// Checks that a target is no file outside the project, which a built-in rule would make.
fn check_target(target: &Arg<'_>) -> Checked {
    if path::stays_below(&target.text) {
        Ok(())
    } else {
        Err(escapes(target, Rule::R88))
    }
}

fn deny_operand(span: Span) -> Denial {
    let reason = "make is given something else than a plain target or NAME=value";
    Denial::by(Rule::R88, span, reason).instead("write make TARGET, with plain literal text")
}
