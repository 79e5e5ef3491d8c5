//! Options of npm and similar package managers that reach beyond the project, in both modes.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::assignments::{self, Setting};
use crate::check::call::{Call, Checked};
use crate::policy::Mode;
use crate::syntax::Part;

/// Letters of npm's short options, which can be combined after one dash.
const LETTERS: &str = "abcdfghilmnpqsvwyBCDEHLNOPS";

pub(in crate::check::commands) fn check(call: &Call<'_, '_, '_>) -> Checked {
    if !matches!(call.name, "npm" | "npx" | "pnpm" | "yarn" | "bun") {
        return Ok(());
    }
    let mut args = call.args.iter().peekable();
    while let Some(arg) = args.next() {
        if arg.is("--") {
            break;
        }
        if !arg.text.starts_with('-') {
            // Commands started by npx have their own options.
            match call.name {
                "npx" => break,
                _ => continue,
            }
        }
        let (name, attached) = match arg.text.split_once('=') {
            Some((name, _)) => (name, Some(arg.without_first(name.len() + 1))),
            None => (arg.text.as_ref(), None),
        };
        let value = attached.as_ref().or(args.peek().copied());
        option(call, arg, name, value)?;
    }
    Ok(())
}

fn option(call: &Call<'_, '_, '_>, arg: &Arg<'_>, name: &str, value: Option<&Arg<'_>>) -> Checked {
    let is_npm = matches!(call.name, "npm" | "npx");
    let (word, is_negated) = if is_npm {
        long_name(name)
    } else {
        (name.strip_prefix("--").unwrap_or_default(), false)
    };
    let is_local = |value: &Arg<'_>| value.known().is_some_and(|value| value != "global");
    let is_off = is_negated && !value.is_some_and(|value| value.is("false"));
    let is_location = is_short_for(word, "location", 3) || (is_npm && ends_with_letter(name, 'L'));
    let is_global = call.name != "npx"
        && (has_letter(name, 'g')
            || (word.starts_with("gl") && !is_off)
            || is_short_for(name, "-global", 4)
            || (is_location && !value.is_some_and(is_local)));
    let leaves = is_npm
        && (is_short_for(word, "prefix", 4) || ends_with_letter(name, 'C'))
        && !value.is_some_and(|folder| is_inside(call, folder));
    let reads_other_settings = is_npm
        && call.mode() == Mode::Sync
        && (is_short_for(word, "userconfig", 5) || is_short_for(word, "globalconfig", 2));
    let asks_other_host = call.mode() == Mode::Sync && is_short_for(word, "registry", 3);
    let has_own_shell = is_npm && is_short_for(word, "script-shell", 3);
    if is_global || leaves || reads_other_settings || asks_other_host || has_own_shell {
        return Err(call.deny_flag(Rule::R52, name, arg.span));
    }
    if is_npm && is_short_for(word, "node-options", 4) {
        return node_options(call, arg, value);
    }
    Ok(())
}

/// Checks the value that npm passes to the variable `NODE_OPTIONS`.
fn node_options(call: &Call<'_, '_, '_>, arg: &Arg<'_>, value: Option<&Arg<'_>>) -> Checked {
    let text = value.and_then(|value| value.known());
    let value = text.map(|text| [Part::Quoted(text.to_owned().into())]);
    assignments::check(
        call.policy(),
        call.directories,
        "NODE_OPTIONS",
        value.as_ref().map(|value| &value[..]),
        Setting::Exported,
        arg.span,
    )
}

/// Returns the name of a long option of npm, and whether it is negated.
///
/// Any number of dashes and of `no-` is accepted, and `no-` does not prevent an option from taking
/// a value.
fn long_name(name: &str) -> (&str, bool) {
    let mut word = name.trim_start_matches('-');
    let mut is_negated = false;
    while let Some((first, rest)) = word.split_once('-')
        && first.eq_ignore_ascii_case("no")
    {
        (word, is_negated) = (rest, !is_negated);
    }
    (word, is_negated)
}

/// Returns the letters of one or more short options.
fn letters(name: &str) -> Option<&str> {
    name.strip_prefix('-')
        .filter(|letters| letters.chars().all(|letter| LETTERS.contains(letter)))
}

/// Returns whether the short options contain `letter`.
fn has_letter(name: &str, letter: char) -> bool {
    letters(name).is_some_and(|letters| letters.contains(letter))
}

/// Returns whether `letter` is the last of the short options, which takes the value.
fn ends_with_letter(name: &str, letter: char) -> bool {
    letters(name).is_some_and(|letters| letters.ends_with(letter))
}

/// Returns whether `name` is `option`, possibly abbreviated to at least `least` bytes.
fn is_short_for(name: &str, option: &str, least: usize) -> bool {
    name.len() >= least && option.starts_with(name)
}

fn is_inside(call: &Call<'_, '_, '_>, folder: &Arg<'_>) -> bool {
    folder
        .known()
        .is_some_and(|folder| call.is_in_project(folder))
}
