//! C and C++: compilers and build tools, in run mode.

mod cmake;
mod compiler;
mod ctest;
mod linker;
mod meson;
mod ninja;
mod variables;

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked, Validator};
use crate::check::commands::strict_options::{check_source, check_source_path};
use crate::check::commands::{built_programs, declared, free};
use crate::check::known_values;
use crate::check::text::{has_only, is_number};
use crate::syntax::{Part, SimpleCommand, Span, commands};
use crate::{Denial, Rule};

/// Finds the validator of the tool `name`.
pub(super) fn find(name: &str) -> Validator {
    match name {
        "cmake" => cmake::check,
        "ctest" => ctest::check,
        "ninja" => ninja::check,
        "meson" => meson::check,
        "clang-format" | "clang-tidy" | "cppcheck" | "run-clang-tidy" => declared::check,
        name if compiler::NAMES.contains(&name) => compiler::check,
        _ => free,
    }
}

/// Returns whether an argument is a number, or a command that prints the number of processors.
fn is_count(arg: &Arg<'_>) -> bool {
    if let Some(text) = arg.known() {
        return is_number(text);
    }
    let last = match arg.parts.last() {
        Some(Part::DoubleQuoted(inner)) => inner.last(),
        last => last,
    };
    let Some(Part::CommandSubstitution(inner)) = last.filter(|_| arg.text.is_empty()) else {
        return false;
    };
    let mut all = commands(&inner.script);
    let words = all.next().and_then(SimpleCommand::static_words);
    let is_only = all.next().is_none();
    let words = words.unwrap_or_default();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    is_only
        && matches!(
            words[..],
            ["nproc"]
                | [
                    "sysctl",
                    "-n",
                    "hw.ncpu" | "hw.logicalcpu" | "hw.physicalcpu"
                ]
                | ["getconf", "_NPROCESSORS_ONLN"]
        )
}

/// Checks a folder whose build runs: of the project, or one in `/tmp` that the same text has just
/// configured.
fn check_build_folder(call: &Call<'_, '_, '_>, folder: &Arg<'_>) -> Checked {
    match folder.known() {
        Some(path) if built_programs::is_built_folder(call, path) => Ok(()),
        _ => check_source(call, Rule::R101, folder),
    }
}

/// Checks the current directory, whose build runs.
fn check_build_here(call: &Call<'_, '_, '_>) -> Checked {
    check_source_path(call, Rule::R101, ".", call.span)
}

/// Checks a target of a build: not one that installs or uploads.
fn check_target(call: &Call<'_, '_, '_>, target: &Arg<'_>) -> Checked {
    let texts = known_values::known_texts(call.context.scope, target);
    let mut texts = texts.ok_or_else(|| call.deny_dynamic(target))?.into_iter();
    texts.try_for_each(|text| check_target_name(&text, target.span))
}

fn check_target_name(target: &str, span: Span) -> Checked {
    const OUTWARD: &[&str] =
        words!("continuous deploy experimental install nightly publish uninstall upload");
    let lower = target.to_ascii_lowercase();
    let is_outward = lower.split(['/', ':']).any(|part| {
        let mut words = OUTWARD.iter();
        words.any(|word| part.starts_with(word))
    });
    if is_outward || !has_only(target, "_./:+@^-") || target.split('/').any(|part| part == "..") {
        let reason = format!("the target '{target}' may write outside of the project");
        return Err(Denial::by(Rule::R101, span, reason)
            .instead("build and test only: leave installing and uploading to the user"));
    }
    Ok(())
}
