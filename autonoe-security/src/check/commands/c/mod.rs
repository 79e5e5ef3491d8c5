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
use crate::check::commands::strict_options::check_source_path;
use crate::check::commands::{declared, free};
use crate::check::known_values;
use crate::check::text::has_only;
use crate::syntax::Span;
use crate::{Denial, Rule};

/// Finds the validator of the tool `name`.
pub(super) fn find(name: &str) -> Validator {
    match name {
        "cmake" => cmake::check,
        "ctest" => ctest::check,
        "ninja" => ninja::check,
        "meson" => meson::check,
        "clang-format" | "clang-format-diff" | "clang-tidy" | "cppcheck" | "run-clang-tidy" => {
            declared::check
        }
        name if compiler::NAMES.contains(&name) => compiler::check,
        _ => free,
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
