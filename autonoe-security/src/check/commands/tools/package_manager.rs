//! Options of npm and its kin that reach beyond the project, in both modes.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::assignments::{self, Setting};
use crate::check::call::{Call, Checked};
use crate::policy::Mode;
use crate::syntax::Part;

/// Letters that npm takes for options, also several behind one dash.
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
            // What npx starts has options of its own.
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
    let is_global = call.name != "npx"
        && (is_cluster_with_g(name)
            || name.starts_with("--gl")
            || is_short_for(name, "-global", 4)
            || (is_short_for(name, "--location", 5) && !value.is_some_and(is_local)));
    let leaves = is_npm
        && (is_short_for(name, "--prefix", 6) || name == "-C")
        && !value.is_some_and(|folder| is_inside(call, folder));
    let reads_other_settings = is_npm
        && call.mode() == Mode::Sync
        && (is_short_for(name, "--userconfig", 7) || is_short_for(name, "--globalconfig", 4));
    let has_own_shell = is_npm && is_short_for(name, "--script-shell", 10);
    if is_global || leaves || reads_other_settings || has_own_shell {
        return Err(call.deny_flag(Rule::R52, name, arg.span));
    }
    if is_npm && is_short_for(name, "--node-options", 6) {
        return node_options(call, arg, value);
    }
    Ok(())
}

/// Checks what npm puts into the variable `NODE_OPTIONS`.
fn node_options(call: &Call<'_, '_, '_>, arg: &Arg<'_>, value: Option<&Arg<'_>>) -> Checked {
    let text = value.and_then(|value| value.known());
    let value = text.map(|text| [Part::Quoted(text.to_owned().into())]);
    assignments::check(
        call.policy(),
        call.here,
        "NODE_OPTIONS",
        value.as_ref().map(|value| &value[..]),
        Setting::Other,
        arg.span,
    )
}

/// Tells whether `name` is a cluster of short options with `-g` among them.
fn is_cluster_with_g(name: &str) -> bool {
    name.strip_prefix('-').is_some_and(|letters| {
        letters.contains('g') && letters.chars().all(|letter| LETTERS.contains(letter))
    })
}

/// Tells whether `name` is `option`, maybe shortened to no less than `least` bytes.
fn is_short_for(name: &str, option: &str, least: usize) -> bool {
    name.len() >= least && option.starts_with(name)
}

fn is_local(value: &Arg<'_>) -> bool {
    value.known().is_some_and(|value| value != "global")
}

fn is_inside(call: &Call<'_, '_, '_>, folder: &Arg<'_>) -> bool {
    folder
        .known()
        .is_some_and(|folder| call.is_in_project(folder))
}
