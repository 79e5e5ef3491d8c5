//! `make`: recipes from the project's own makefiles.

use super::scripts::runs_code_of_project;
use crate::check::arg::Arg;
use crate::check::assignments::{self, Setting};
use crate::check::builtins::{enter_path, is_identifier};
use crate::check::call::{Call, Checked};
use crate::check::directories::Directories;
use crate::check::options::{self, ParsedArg};
use crate::check::text::has_only;
use crate::check::write_target::{Root, escapes};
use crate::check::{extensions, path, symlinks};
use crate::option_table::{OptionArity, OptionTable};
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

/// Options without a value, or with a value in the same argument, that change neither what runs nor
/// where.
const MAKE: OptionTable = options!(
    "BdhiknpqrRsSvwf:C:I:o:W:E:j?l?O?",
    "always-make debug? directory= dry-run eval= file= help ignore-errors include-dir= jobs?",
    "just-print keep-going load-average? makefile= no-builtin-rules no-builtin-variables",
    "no-keep-going no-print-directory no-silent output-sync? print-data-base print-directory",
    "question quiet recon silent stop trace version warn-undefined-variables",
);

/// Default makefiles.
const MAKEFILES: &[&str] = words!("GNUmakefile makefile Makefile");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    if extensions::is_unrestricted(call) {
        return Ok(());
    }
    runs_code_of_project(call, "makefiles")?;
    let mut folder = None;
    let mut files = Vec::new();
    for parsed in options::read(call, &MAKE)? {
        match parsed {
            ParsedArg::Operand(operand) => check_operand(call, operand)?,
            ParsedArg::Option { name, value, arg } => match (name.as_str(), value) {
                ("-C" | "--directory", Some(value)) if folder.is_none() => folder = Some(value),
                ("-f" | "--file" | "--makefile", Some(value)) => files.push(value),
                (name, _) if is_flag(name, arg) => {}
                (name, _) => return Err(call.deny_flag(Rule::R88, name, arg.span)),
            },
        }
    }
    let here = match &folder {
        Some(folder) => enter_path(call, folder)?,
        None => call.directories.clone(),
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
    let is_listed = MAKE
        .find(name)
        .is_some_and(|takes| takes != OptionArity::Value);
    is_listed && (!name.starts_with("--") || arg.text.split('=').next() == Some(name))
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
    let is_plain = |text: &str| has_only(text, " _./:,=+@%-");
    if !is_plain(text) {
        // make expands `$(..)`, and recipes pass the rest to a shell.
        return Err(deny_operand(operand.span));
    }
    let Some((name, value)) = text.split_once('=') else {
        return check_target(operand);
    };
    let name = name.trim_end_matches([':', '+']);
    if !is_identifier(name) || assignments::is_make_variable(name) {
        return Err(deny_operand(operand.span));
    }
    if name == "DESTDIR" {
        // Recipes install below it.
        let folder = Arg::plain(value.to_owned(), operand.span);
        return match path::stays_below(value) || value.starts_with('/') {
            true => call.check_write_target(&folder, Root::Refused),
            false => Err(escapes(&folder, Rule::R88)),
        };
    }
    let value = [Part::Quoted(value.to_owned().into())];
    let (policy, here, span) = (call.policy(), call.directories, operand.span);
    // Recipes receive it in their environment.
    assignments::check(policy, here, name, Some(&value), Setting::Exported, span)
}

/// Checks that a target is not a file outside the project, which a built-in rule would create.
fn check_target(target: &Arg<'_>) -> Checked {
    if path::stays_below(&target.text) {
        Ok(())
    } else {
        Err(escapes(target, Rule::R88))
    }
}

fn deny_operand(span: Span) -> Denial {
    let reason = "make accepts only plain targets and NAME=value";
    Denial::by(Rule::R88, span, reason).instead("write make TARGET, with plain literal text")
}
