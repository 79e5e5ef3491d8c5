//! Commands that `npx`, `uv run` and `bundle exec` may start in sync mode, and their options.

use super::{by_language, folders, not_verification, rewrites, tool_verifies};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::tool_options::Tool;
use crate::check::commands::tools::{CommandReading, StartedCommand, own_options};
use crate::option_table::{OptionArity, OptionTable};
use crate::policy::Profile;

/// Returns the options of a runner that change neither what it starts nor where that comes from.
fn harmless(tool: &str) -> Option<&'static OptionTable> {
    Some(match tool {
        "npx" | "bunx" | "npm" | "bun" => &NODE,
        "pnpm" | "yarn" => &WORKSPACES,
        "uv" => &UV,
        "poetry" => &POETRY,
        "pdm" => &PDM,
        "pipenv" => &PIPENV,
        "bundle" | "bundler" => &BUNDLE,
        // The others are not allowed.
        _ => return None,
    })
}

const NODE: OptionTable = options!("yqw:C:", "workspace= prefix= yes no no-install quiet bun");

const WORKSPACES: OptionTable = options!("qrwC:F:", "dir= filter= cwd= quiet recursive silent");

const UV: OptionTable = options!(
    "qvm",
    "group= no-group= only-group= extra= no-extra= package= project= directory= quiet verbose",
    "frozen locked no-sync offline no-progress active all-extras all-groups dev no-dev only-dev",
    "module",
);

const POETRY: OptionTable = options!(
    "qvnC:P:",
    "directory= project= quiet -vv -vvv verbose no-interaction ansi no-ansi",
);

const PDM: OptionTable = options!("qvp:", "project= quiet verbose");

const PIPENV: OptionTable = options!("qv", "quiet verbose");

const BUNDLE: OptionTable = options!("", "verbose");

/// Judges the command that a runner starts.
pub(super) fn check<'s>(
    call: &Call<'_, '_, 's>,
    words: &CommandReading<'_, 's>,
    started: &StartedCommand<'_, 's>,
) -> Checked {
    let is_opened = match call.name {
        "pnpm" | "yarn" => words.first() == Some("exec"),
        "npm" => matches!(words.first(), Some("exec" | "x")),
        "bun" => words.first() == Some("x"),
        "uv" => words.first() == Some("run"),
        _ => true,
    };
    let Some(harmless) = harmless(call.name).filter(|_| is_opened) else {
        return Err(not_verification(call));
    };
    let in_front = match words.at() {
        Some(_) => words.before(),
        None => &[],
    };
    for options in [in_front, started.options] {
        only_harmless(call, harmless, options)?;
        let runner = Tool {
            call,
            name: call.name,
            args: options,
            at: None,
        };
        folders::check(&runner)?;
    }
    let Some((first, args)) = started.args.split_first() else {
        return Ok(());
    };
    if !first.known().is_some_and(is_bare) {
        let reason = format!("{} may start only a tool by its name", call.name);
        return Err(call.deny(Rule::R64, reason).instead("name the tool only"));
    }
    inner(call, &started.name, args)
}

fn only_harmless(call: &Call<'_, '_, '_>, harmless: &OptionTable, options: &[Arg<'_>]) -> Checked {
    let mut args = options.iter();
    while let Some(arg) = args.next() {
        let text = arg.text.as_ref();
        let name = text.split('=').next().unwrap_or(text);
        match harmless.find(name) {
            Some(OptionArity::Value) if name == text => {
                args.next();
            }
            Some(OptionArity::Value) => {}
            Some(_) if name == text => {}
            None if text == "--" => {}
            _ => return Err(call.deny_flag(Rule::R64, name, arg.span)),
        }
    }
    Ok(())
}

/// Returns whether `name` is a plain name, possibly with a plain version: `vitest@1.2.3`.
fn is_bare(name: &str) -> bool {
    let (name, version) = name.split_once('@').unwrap_or((name, "0"));
    let is_plain = |text: &str| {
        let mut bytes = text.bytes();
        !text.is_empty() && bytes.all(|it| it.is_ascii_alphanumeric() || b"._-".contains(&it))
    };
    is_plain(name) && is_plain(version.trim_start_matches(['^', '~']))
}

fn inner<'s>(call: &Call<'_, '_, 's>, name: &str, args: &[Arg<'s>]) -> Checked {
    rewrites::check(call, call.name, args)?;
    rewrites::check(call, name, args)?;
    let owner = Profile::from_command(name);
    let is_active = owner.is_none_or(|it| call.policy().is_active(it));
    let starts_others = matches!(
        name,
        "npm" | "pnpm" | "yarn" | "bun" | "composer" | "npx" | "bunx"
    );
    let may_start = match call.name {
        "uv" | "poetry" | "pdm" | "pipenv" | "bundle" | "bundler" => owner.is_some(),
        _ => true,
    };
    if !is_active || starts_others || !may_start {
        return Err(not_verification(call));
    }
    let places = match own_options(name) {
        Some(table) => table.first_operands(call, args, 0)?,
        None => vec![None],
    };
    let is_clear = places.len() == 1;
    for at in places {
        let tool = Tool {
            call,
            name,
            args,
            at,
        };
        if is_clear || at.is_some() {
            tool_verifies(&tool, by_language)?;
        }
    }
    match owner {
        // A command that is denied by itself is denied here as well.
        Some(_) => {
            let mut inner = vec![Arg::plain(name.to_owned(), call.span)];
            inner.extend_from_slice(args);
            call.inner(&inner)
        }
        None => Ok(()),
    }
}
