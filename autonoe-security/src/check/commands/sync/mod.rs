//! Commands of the language profiles in sync mode: tests, type checks, linters and builds.

mod dynamic;
mod external_paths;
mod folders;
mod go;
mod inline_code;
mod node;
mod php;
mod python;
mod reports;
mod rewrites;
mod ruby;
mod runners;
mod rust;
mod scripts;

use super::tool_options::{self, Tool};
use super::tools::{self, CommandReading};
use super::version_probe;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked, Validator};
use crate::check::path;
use crate::policy::Profile;

/// Finds the validator of the tool `name` in sync mode.
pub(super) fn find(_name: &str) -> Validator {
    check
}

/// Judges a tool that only prints its version in sync mode.
pub(super) fn only_version(call: &Call<'_, '_, '_>) -> Checked {
    if version_probe::is_query(call) {
        Ok(())
    } else {
        Err(not_verification(call))
    }
}

fn check(call: &Call<'_, '_, '_>) -> Checked {
    if is_question(call.args) {
        return Ok(());
    }
    if !call.is_in_project(".") {
        return Err(not_verification(call));
    }
    reads_no_note(call)?;
    tools::stays_in_project(call)?;
    rewrites::check(call, call.name, call.args)?;
    let readings = CommandReading::readings(call)?;
    let is_clear = readings.len() == 1;
    for words in &readings {
        // Without a subcommand, an unclear command line does nothing.
        if is_clear || words.first().is_some() {
            verifies(call, words)?;
        }
    }
    Ok(())
}

/// Returns whether the arguments only request information about the tool.
fn is_question(args: &[Arg<'_>]) -> bool {
    matches!(args, [only] if matches!(only.known(), Some("--version" | "-V" | "--help")))
}

/// Spellings of the note that a pattern may match.
const NOTE_FILES: [&str; 2] = [".autonoe-note.md", "./.autonoe-note.md"];

/// Checks that no tool loads the note: it is the only file of the project that an agent writes in
/// sync mode.
fn reads_no_note(call: &Call<'_, '_, '_>) -> Checked {
    let names_note = |text: &str| path::contains_ignore_case(text, path::NOTE);
    let may_match_note = |arg: &Arg<'_>| NOTE_FILES.iter().any(|name| arg.may_match(name));
    let is_note = |arg: &&Arg<'_>| arg.mentions(names_note) || may_match_note(arg);
    match call.args.iter().find(is_note) {
        Some(arg) => Err(call
            .deny(Rule::R92, "tools must not read the note of a sync")
            .at(arg.span.range())
            .instead("run the tool on files of the project")),
        None => Ok(()),
    }
}

fn not_verification(call: &Call<'_, '_, '_>) -> crate::Denial {
    let reason = format!(
        "'{}' with these arguments can do more than verify",
        call.name
    );
    call.deny(Rule::R64, reason)
        .instead("run tests, type checks, linters or builds that change no source")
}

/// Checks that one reading of a command line only verifies.
fn verifies<'c, 's>(call: &Call<'c, '_, 's>, words: &CommandReading<'c, 's>) -> Checked {
    tools::starts_no_other_program(call, words)?;
    if let Some(all) = tools::started_commands(call, words)? {
        if all.is_empty() {
            return Err(not_verification(call));
        }
        return all
            .iter()
            .try_for_each(|started| runners::check(call, words, started));
    }
    let tool = Tool {
        call,
        name: call.name,
        args: call.args,
        at: words.at(),
    };
    tool_verifies(&tool, |tool| match tool.name {
        "npm" | "pnpm" | "yarn" | "bun" | "composer" => scripts::verifies(tool, words),
        _ => by_language(tool),
    })
}

/// Checks a tool that runs directly, or was started by another one.
fn tool_verifies(
    tool: &Tool<'_, '_, '_, '_>,
    holds: impl Fn(&Tool<'_, '_, '_, '_>) -> bool,
) -> Checked {
    if is_question(tool.args) && Profile::from_command(tool.name).is_some() {
        return Ok(());
    }
    dynamic::check(tool)?;
    folders::check(tool)?;
    options_are_harmless(tool)?;
    if holds(tool) {
        Ok(())
    } else {
        Err(not_verification(tool.call))
    }
}

/// Checks that no option writes a source file, or runs code that does not belong to the project.
fn options_are_harmless(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    tool_options::check_tool(tool)?;
    reports::check(tool)?;
    external_paths::check(tool)?;
    inline_code::check(tool)
}

fn by_language(tool: &Tool<'_, '_, '_, '_>) -> bool {
    match Profile::from_command(tool.name) {
        Some(Profile::Node | Profile::Bun) => node::verifies(tool),
        Some(Profile::Python) => python::verifies(tool),
        Some(Profile::Ruby) => ruby::verifies(tool),
        Some(Profile::Go) => go::verifies(tool),
        Some(Profile::Rust) => rust::verifies(tool),
        Some(Profile::Php) => php::verifies(tool),
        Some(Profile::Java | Profile::C) => false,
        None => node::verifies_started(tool),
    }
}
