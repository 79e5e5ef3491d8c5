//! Argument checks of programs, one file with its tables per program.

mod archives;
mod awk;
mod base;
mod brackets;
pub(super) mod built_programs;
mod c;
mod chmod;
mod code_source;
mod compression;
mod copied_name;
mod copy;
mod date;
mod declared;
mod destructive;
mod find;
mod find_results;
mod gdb;
mod git;
mod glob_targets;
pub(super) mod java;
mod jq;
mod link;
mod make;
mod network;
mod option_allow_list;
mod patches;
mod pkill;
mod program_text;
mod ps;
mod readers;
pub(super) mod scripts;
mod search;
pub(super) mod searched_names;
mod sed;
mod server_url;
mod sqlite;
mod strict_options;
mod sync;
mod system_info;
mod temporary_file;
mod timeout;
mod tool_options;
mod tools;
pub(super) mod version_probe;
mod wrappers;
mod writers;
mod yq;

use super::arg::Arg;
use super::builtins;
use super::call::{Call, Checked, Known, Owner, Program, Validator};
use super::names::Names;
use crate::option_table::OptionTable;
use crate::policy::Profile;
use crate::{Denial, Rule};

pub(crate) use declared::EVALUATING;
pub(crate) use tool_options::own_args;
pub(crate) use wrappers::find as wrapper;

/// Commands with the validator that they share.
type Commands = &'static [(&'static [&'static str], Validator)];

/// Returns each command of `tables`.
fn all(
    tables: impl IntoIterator<Item = Commands>,
) -> impl Iterator<Item = (&'static str, Validator)> {
    let entries = tables.into_iter().flatten();
    entries.flat_map(|(names, check)| names.iter().map(|name| (*name, *check)))
}

/// Returns every built-in command with its validator.
pub(crate) fn built_in() -> Names<Known> {
    let mut commands: Names<Known> = Names::default();
    for name in builtins::NAMES {
        commands.entry(name).or_default().builtin = builtins::find(name);
    }
    let mut add = |name: &'static str, owner, check: Validator, in_sync: Validator| {
        let program = Program {
            owner,
            check,
            in_sync,
        };
        commands.entry(name).or_default().program = Some(program);
    };
    let tables = [
        base::COMMANDS,
        readers::COMMANDS,
        wrappers::COMMANDS,
        network::COMMANDS,
    ];
    for (name, check) in all(tables) {
        add(name, Owner::Base, check, check);
    }
    for (name, check) in [
        ("bats", scripts::bats as Validator),
        ("make", make::check),
        ("pgrep", free),
        ("gdb", gdb::check),
        ("printenv", printenv),
        ("shellcheck", scripts::shellcheck),
        ("yq", yq::check),
    ] {
        add(name, Owner::Base, check, check);
    }
    let openable = [
        system_info::COMMANDS,
        compression::COMMANDS,
        archives::COMMANDS,
        declared::COMMANDS,
    ];
    for name in version_probe::NAMES {
        let check = version_probe::check;
        add(name, Owner::VersionOnly, check, check);
    }
    for (name, check) in all(openable) {
        add(name, Owner::Openable, check, check);
    }
    for (name, check) in [
        ("mktemp", temporary_file::check as Validator),
        ("sqlite3", sqlite::check),
    ] {
        add(name, Owner::Openable, check, check);
    }
    for (name, check) in [
        ("apply_patch", patches::apply_patch as Validator),
        ("mkdir", copy::mkdir),
        ("cp", copy::cp),
        ("chmod", chmod::check),
        ("ln", link::check),
        ("patch", patches::patch),
        ("touch", writers::touch),
        ("rmdir", writers::rmdir),
    ] {
        add(name, Owner::RunMode, check, check);
    }
    for (name, check) in [
        ("rm", destructive::rm as Validator),
        ("mv", destructive::mv),
    ] {
        add(name, Owner::Destructive, check, check);
    }
    for profile in Profile::ALL {
        for name in profile.commands() {
            let owner = Owner::Profile(profile);
            match profile {
                Profile::Java => add(name, owner, java::find(name), sync::only_version),
                Profile::C => add(name, owner, c::find(name), sync::only_version),
                _ => add(name, owner, in_run, sync::find(name)),
            }
        }
    }
    let readers = [
        readers::COMMANDS,
        system_info::COMMANDS,
        compression::COMMANDS,
    ];
    let readers = all(readers).map(|(name, _)| name);
    for name in readers.chain(READERS.iter().copied()) {
        commands.entry(name).or_default().only_reads = true;
    }
    commands
}

/// Commands that only read, besides those of the table in [`readers`]. Git has separate rules.
const READERS: &[&str] = words!(
    ". [ cat cd cut diff echo find git grep head jq ls printf sort source tac tail test tr tree",
    "uniq wc which",
);

/// Returns the options of a search tool or an editor that has a validator of its own.
pub(crate) fn options_of(name: &str) -> Option<&'static OptionTable> {
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => Some(&awk::AWK.options),
        "fd" | "fdfind" => Some(&search::FD.options),
        "rg" => Some(&search::RG.options),
        "sed" => Some(&sed::SED.options),
        _ => None,
    }
}

/// Returns whether the program `name` only reads files and prints, with any arguments.
///
/// ```
/// assert!(autonoe_security::is_reading_program("cat"));
/// assert!(!autonoe_security::is_reading_program("sort"));
/// ```
pub fn is_reading_program(name: &str) -> bool {
    base::FREE.contains(&name) || readers::FREE.contains(&name)
}

/// Returns whether a sed script only edits the text that it prints: it neither writes a file nor
/// runs a command in any implementation of sed.
///
/// ```
/// assert!(autonoe_security::is_reading_sed_script("s/a/b/; 10q"));
/// assert!(!autonoe_security::is_reading_sed_script("w out.txt"));
/// ```
pub fn is_reading_sed_script(script: &str) -> bool {
    sed::only_reads(script)
}

/// Returns whether an awk program only computes and prints: it neither writes a file nor runs a
/// command in any implementation of awk.
///
/// ```
/// assert!(autonoe_security::is_reading_awk_program("{ print $1 }"));
/// assert!(!autonoe_security::is_reading_awk_program("{ system($1) }"));
/// ```
pub fn is_reading_awk_program(program: &str) -> bool {
    awk::only_reads(program)
}

/// Checks `printenv`: it prints variables by name; without names it would print all of them.
fn printenv(call: &Call<'_, '_, '_>) -> Checked {
    let is_name = |arg: &Arg<'_>| arg.known().is_some_and(builtins::is_identifier);
    if let Some(name) = call.args.iter().find(|arg| names_secret(&arg.text)) {
        let reason = format!("'{}' may contain a secret", name.text);
        return Err(Denial::by(Rule::R94, name.span, reason)
            .instead("check whether it is set: test -n \"$NAME\""));
    }
    if !call.args.is_empty() && call.args.iter().all(is_name) {
        Ok(())
    } else {
        Err(call
            .deny(Rule::R24, "printenv without a name prints every variable")
            .instead("print one variable with printenv NAME"))
    }
}

/// Returns whether the name of a variable says that its value is a secret.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts = words!("AUTH CREDENTIAL CREDENTIALS KEY PASS PASSWD PASSWORD SECRET TOKEN");
    name.split('_').any(|part| parts.contains(&part)) || name.ends_with("APIKEY")
}

/// Judges a tool of a profile in run mode.
fn in_run(call: &Call<'_, '_, '_>) -> Checked {
    tool_options::check(call)?;
    tools::find(call.name)(call)
}

/// Accepts any arguments.
fn free(_: &Call<'_, '_, '_>) -> Checked {
    Ok(())
}
