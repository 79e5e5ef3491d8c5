//! Tools that pass the rest of their arguments to themselves, or to a module.

use super::{CommandReading, publishing};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::option_table::OptionTable;
use crate::policy::Profile;

/// The options of `yarn workspaces foreach`.
const FOREACH: OptionTable = options!(
    "ARWpitnj:",
    "include= exclude= from= since= jobs= all recursive worktree parallel interlaced topological",
    "topological-dev dry-run",
);

/// Judges `yarn workspace NAME ..` and `pnpm recursive ..` by the command that runs in the
/// packages.
pub(super) fn check<'s>(call: &Call<'_, '_, 's>, words: &CommandReading<'_, 's>) -> Checked {
    let rest = words.rest();
    let in_packages = |args: &[Arg<'s>]| match args {
        [] => Ok(()),
        args => call.inner(&with_name(call.name, call, args)),
    };
    match (call.name, words.first()) {
        ("yarn", Some("workspace")) => in_packages(rest.get(1..).unwrap_or_default()),
        ("yarn", Some("workspaces")) if rest.first().is_some_and(|arg| arg.is("foreach")) => {
            let places = FOREACH.first_operands(call, rest, 1)?;
            let mut places = places.into_iter().flatten();
            places.try_for_each(|at| in_packages(&rest[at..]))
        }
        ("yarn", Some("workspaces")) | ("pnpm", Some("recursive" | "multi" | "m")) => {
            in_packages(rest)
        }
        _ => Ok(()),
    }
}

/// Judges `python -m MODULE ..` by its module.
pub(super) fn python(call: &Call<'_, '_, '_>) -> Checked {
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        let Some(letters) = first.text.strip_prefix('-').filter(|it| !it.is_empty()) else {
            return Ok(());
        };
        if letters.starts_with('-') {
            args = rest;
            continue;
        }
        let Some(at) = letters.find(['c', 'm', 'W', 'X']) else {
            args = rest;
            continue;
        };
        let is_last = at + 1 == letters.len() && first.is_static();
        match (letters.as_bytes()[at], is_last) {
            (b'c', _) => return Ok(()),
            (b'm', true) => {
                return rest
                    .split_first()
                    .map_or(Ok(()), |(name, rest)| module(call, name, rest));
            }
            (b'm', false) => return module(call, &first.without_first(at + 2), rest),
            (_, true) => args = rest.get(1..).unwrap_or_default(),
            (_, false) => args = rest,
        }
    }
    Ok(())
}

fn module<'s>(call: &Call<'_, '_, 's>, name: &Arg<'s>, rest: &[Arg<'s>]) -> Checked {
    let Some(text) = name.known() else {
        return Ok(());
    };
    if publishing::module_publishes(call, text) {
        let reason = format!("'{text}' publishes");
        return Err(call.deny(Rule::R51, reason).instead("leave it to the user"));
    }
    match Profile::from_command(text) {
        Some(Profile::Python) => call.inner(&with_name(text, call, rest)),
        _ => Ok(()),
    }
}

fn with_name<'s>(name: &str, call: &Call<'_, '_, '_>, rest: &[Arg<'s>]) -> Vec<Arg<'s>> {
    let mut args = vec![Arg::plain(name.to_owned(), call.span)];
    args.extend_from_slice(rest);
    args
}
