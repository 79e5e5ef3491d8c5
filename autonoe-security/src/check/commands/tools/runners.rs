//! Tools that start other tools, such as `npx`, `uv run` and `bundle exec`.

use super::abbreviations::possible_subcommands;
use super::own_options::own_options;
use super::packages::{self, Package};
use super::{CommandReading, denied_programs};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked, Owner};
use crate::check::commands::code_source::{is_address, is_repository};
use crate::check::commands::tool_options::Tool;
use crate::check::path;
use crate::check::text::is_number;
use crate::option_table::OptionTable;
use crate::policy::Mode;
use crate::{Denial, Rule};

/// The command that a runner starts, in one reading.
pub(in crate::check::commands) struct StartedCommand<'c, 's> {
    /// The options of the runner, before the name.
    pub(in crate::check::commands) options: &'c [Arg<'s>],
    /// The name and its arguments.
    pub(in crate::check::commands) args: &'c [Arg<'s>],
    /// The name without its folder and without a version.
    pub(in crate::check::commands) name: String,
}

const CARGO_WATCH: OptionTable = options!(
    "cx:w:i:d:E:C:B:",
    "exec= watch= ignore= delay= env= workdir= features= clear why poll postpone",
);

const NO_OPTIONS: OptionTable = options!("");

/// Returns the options of the runner `call`, and their start; `None` if it is not a runner.
fn runner<'c, 's>(
    call: &Call<'c, '_, 's>,
    words: &CommandReading<'c, 's>,
) -> Option<(&'static OptionTable, &'c [Arg<'s>])> {
    let own = own_options(call.name).unwrap_or(&NO_OPTIONS);
    let rest = words.rest();
    if matches!(call.name, "npx" | "bunx" | "uvx") {
        return Some((own, call.args));
    }
    if call.name == "cargo-watch" {
        return Some((&CARGO_WATCH, call.args));
    }
    let matched = possible_subcommands(call.name, words.first()?);
    let is = |names: &[&str]| matched.iter().all(|word| names.contains(&word.as_str()));
    let behind_next = || rest.get(1..).unwrap_or_default();
    match call.name {
        "npm" if is(&["exec"]) => Some((own, rest)),
        // It first changes to a package.
        "npm" if is(&["explore"]) => Some((&NO_OPTIONS, behind_next())),
        "bun" if is(&["x"]) => Some((own, rest)),
        "yarn" | "pnpm" if is(&["exec", "dlx"]) => Some((own, rest)),
        "uv" | "poetry" | "pdm" | "pipenv" | "hatch" | "pipx" | "conda" if is(&["run"]) => {
            Some((own, rest))
        }
        "uv" if is(&["tool"]) && rest.first().is_some_and(|arg| arg.is("run")) => {
            Some((own, behind_next()))
        }
        "hatch" if is(&["env"]) && rest.first().is_some_and(|arg| arg.is("run")) => {
            Some((own, behind_next()))
        }
        "bundle" | "bundler" | "composer" if is(&["exec"]) => Some((own, rest)),
        "cargo" if is(&["watch"]) => Some((&CARGO_WATCH, rest)),
        "rustup" if is(&["run"]) => {
            let toolchain = rest.iter().position(|arg| !arg.text.starts_with('-'));
            // A pattern may expand to the toolchain and the program.
            let is_one = |at: usize| usize::from(rest[at].known().is_some());
            let behind = toolchain.map_or(rest.len(), |at| at + is_one(at));
            Some((&NO_OPTIONS, &rest[behind..]))
        }
        // They look up unknown names among scripts and programs.
        "yarn" if call.mode() == Mode::Run && !is(OWN_NAMES_OF_YARN) => {
            let at = words.at()?;
            Some((&NO_OPTIONS, &call.args[at..]))
        }
        "bun" | "yarn" if is(&["run"]) && call.mode() == Mode::Run => Some((own, rest)),
        "pnpm" | "bun" if call.mode() == Mode::Run && !is(OWN_NAMES) => {
            let at = words.at()?;
            Some((&NO_OPTIONS, &call.args[at..]))
        }
        _ => None,
    }
}

/// Subcommands of pnpm and bun that have the names of programs.
const OWN_NAMES: &[&str] = words!("rm ln unlink env exec ls link find");

/// Subcommands of yarn that have the names of programs, or no operand that starts one.
const OWN_NAMES_OF_YARN: &[&str] = words!(
    "rm ln unlink env ls link find test run workspace workspaces npm node config global remove set"
);

/// Finds the command that `call` starts, in every reading; `None` if it is not a runner.
pub(in crate::check::commands) fn started_commands<'c, 's>(
    call: &Call<'c, '_, 's>,
    words: &CommandReading<'c, 's>,
) -> Result<Option<Vec<StartedCommand<'c, 's>>>, Denial> {
    let Some((table, args)) = runner(call, words) else {
        return Ok(None);
    };
    if matches!(call.name, "npm" | "pnpm") {
        for arg in words.before() {
            refuse(call, arg)?;
        }
    }
    let mut all = Vec::new();
    for at in table.first_operands(call, args, 0)? {
        let (options, args) = args.split_at(at.unwrap_or(args.len()));
        for option in options {
            refuse(call, option)?;
        }
        check_source(call, words, options, args.first())?;
        if let Some(first) = args.first() {
            all.push(StartedCommand {
                options,
                args,
                name: name_of(call, first)?,
            });
        }
    }
    Ok(Some(all))
}

/// Options of runners whose value names the package of the program, or one that it loads.
const PACKAGE_OPTIONS: &[&str] =
    words!("-p --package --from --spec -w --with --with-editable --with-requirements");

/// Checks that the package of the program is no address, whose code would run at once.
fn check_source<'s>(
    call: &Call<'_, '_, 's>,
    words: &CommandReading<'_, 's>,
    options: &[Arg<'s>],
    first: Option<&Arg<'s>>,
) -> Checked {
    let mut args = match words.at() {
        Some(_) => words.before().to_vec(),
        // All arguments: those of the program are not options of the runner.
        None => Vec::new(),
    };
    if call.name == "npm" {
        // It reads its options anywhere before `--`.
        let own = words.rest().iter().take_while(|arg| !arg.is("--"));
        args.extend(own.cloned());
    } else {
        args.extend_from_slice(options);
    }
    let tool = Tool {
        call,
        // Both read options alike.
        name: if call.name == "npx" { "npm" } else { call.name },
        args: &args,
        at: None,
    };
    let packages = tool.values_of(PACKAGE_OPTIONS).into_iter().flatten();
    let downloads = match call.name {
        "npx" | "bunx" => true,
        "npm" | "bun" => starts_package(call, words),
        "pnpm" | "yarn" => words.first() == Some("dlx"),
        _ => false,
    };
    let mut all = packages.chain(first.cloned());
    match all.find(|it| is_address(&it.text) || (downloads && is_repository(&it.text))) {
        Some(package) => Err(from_network(&package)),
        None => Ok(()),
    }
}

/// Returns the denial of a package that is an address.
pub(super) fn from_network(package: &Arg<'_>) -> Denial {
    let reason = format!("'{}' is code from the network", package.text);
    Denial::by(Rule::R92, package.span, reason)
        .instead("use a package of the registry, or a dependency of the project")
}

/// Returns whether the subcommand starts a program of a package, not a script of the project.
fn starts_package(call: &Call<'_, '_, '_>, words: &CommandReading<'_, '_>) -> bool {
    let Some(word) = words.first() else {
        return false;
    };
    let starts = |word: &String| matches!(word.as_str(), "exec" | "x" | "dlx" | "tool");
    possible_subcommands(call.name, word).iter().any(starts)
}

pub(super) fn name_of(call: &Call<'_, '_, '_>, first: &Arg<'_>) -> Result<String, Denial> {
    let is_word = |text: &&str| !text.contains([' ', '\t', '\n', ';', '|', '&', '$', '`', '(']);
    match first.known().filter(|_| first.is_literal()) {
        Some(written) if is_word(&written) => Ok(bare_name(written).to_owned()),
        _ => {
            let reason = format!(
                "the program that {} starts is unknown until it runs",
                call.name
            );
            Err(Denial::by(Rule::R54, first.span, reason)
                .instead("write its name literally, as a word of its own"))
        }
    }
}

/// Returns the options of the runner `tool` that start a command line through a shell.
fn refused(tool: &str) -> (&'static [&'static str], &'static str) {
    match tool {
        "npm" | "npx" | "bunx" | "bun" | "yarn" => {
            (words!("--call --shell-mode --shell --script-shell"), "c")
        }
        "pnpm" => (words!("--call --shell-mode --shell --script-shell"), "cs"),
        "uv" | "uvx" | "pipx" | "conda" | "hatch" => (words!("--shell --gui-script"), "cs"),
        _ => (&[], ""),
    }
}

fn refuse(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    let name = arg.text.split('=').next().unwrap_or_default();
    let (long, short) = refused(call.name);
    let letters = name.strip_prefix('-').filter(|it| !it.starts_with('-'));
    // In a cluster, the leading letters are flags; a value would end the cluster.
    let is_cluster = letters.is_some_and(|letters| {
        let flags = letters.trim_start_matches(|letter: char| "yqndfalvrw".contains(letter));
        flags.starts_with(|letter| short.contains(letter))
    });
    let is_long = name.len() > 4 && long.iter().any(|full| full.starts_with(name));
    if is_cluster || is_long {
        Err(call.deny_flag(Rule::R53, name, arg.span))
    } else {
        Ok(())
    }
}

/// Returns a name without its folder and without a version: `rimraf@5`.
fn bare_name(written: &str) -> &str {
    // `pre-commit==3` of pipx
    let written = written.split("==").next().unwrap_or(written);
    let versioned = match written.rfind('@') {
        Some(at) if at > 0 => &written[..at],
        _ => written,
    };
    if versioned == "@playwright/test" {
        return "playwright";
    }
    // The last part of a Go module may be its version.
    let is_version = |part: &str| {
        let number = part.strip_prefix('v').unwrap_or_default();
        is_number(number)
    };
    match versioned.rsplit_once('/') {
        Some((module, version)) if is_version(version) => path::file_name(module),
        _ => path::file_name(versioned),
    }
}

/// Judges the command that a runner starts in run mode.
pub(super) fn check<'s>(
    call: &Call<'_, '_, 's>,
    words: &CommandReading<'_, 's>,
    started: &StartedCommand<'_, 's>,
) -> Checked {
    let is_installed =
        matches!(call.name, "npx" | "bunx" | "uvx" | "pipx") || starts_package(call, words);
    check_started(
        call,
        started,
        is_installed && !matches!(call.name, "bundle" | "bundler"),
    )
}

/// Judges a started command. Unless `is_installed`, it may be a script of the project.
pub(super) fn check_started<'s>(
    call: &Call<'_, '_, 's>,
    started: &StartedCommand<'_, 's>,
    is_installed: bool,
) -> Checked {
    let Some(first) = started.args.first() else {
        return Ok(());
    };
    let names = [
        started.name.as_str(),
        // `environment:command` of hatch.
        started.name.rsplit(':').next().unwrap_or(""),
    ];
    if let Some(name) = names
        .into_iter()
        .find(|name| denied_programs::contains(name))
    {
        let reason = format!("{} must not start '{name}'", call.name);
        return Err(Denial::by(Rule::R55, first.span, reason)
            .instead("use a listed command directly, or a tool of the project"));
    }
    if !is_listed(call, &started.name) {
        let package = Package {
            name: package_name(&first.text, &started.name),
            args: &started.args[1..],
            span: first.span,
            is_installed,
        };
        return packages::check(call, &package);
    }
    let mut inner = started.args.to_vec();
    if !first.text.contains('/') || first.text.starts_with('@') {
        inner[0] = Arg::plain(started.name.clone(), first.span);
    }
    call.inner(&inner)
}

/// Judges a program that a tool started by the name `name`, such as a module of Python.
pub(super) fn check_program<'s>(
    call: &Call<'_, '_, 's>,
    name: &Arg<'s>,
    args: &[Arg<'s>],
    is_installed: bool,
) -> Checked {
    let bare = bare_name(&name.text).to_owned();
    let mut all = vec![Arg::plain(bare.clone(), name.span)];
    all.extend_from_slice(args);
    let started = StartedCommand {
        options: &[],
        args: &all,
        name: bare,
    };
    check_started(call, &started, is_installed)
}

/// Returns whether the policy has rules for the command `name`.
fn is_listed(call: &Call<'_, '_, '_>, name: &str) -> bool {
    let policy = call.policy();
    let program = policy.known(name).and_then(|known| known.program);
    program.is_some_and(|program| match program.owner {
        Owner::Profile(profile) => policy.is_active(profile),
        Owner::Destructive | Owner::VersionOnly => false,
        Owner::Base | Owner::Openable | Owner::RunMode => true,
    })
}

/// Returns the name of a package: of `@changesets/cli` that of its owner, because many are called
/// `cli`.
fn package_name<'n>(written: &'n str, name: &'n str) -> &'n str {
    let owner = written
        .strip_prefix('@')
        .and_then(|it| it.split('/').next());
    owner.filter(|_| name == "cli").unwrap_or(name)
}
