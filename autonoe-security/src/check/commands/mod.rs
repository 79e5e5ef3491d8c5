//! Programs: what their arguments may be, each in its own file with its table.

mod aims;
mod base;
mod chmod;
mod copied_name;
mod copy;
mod date;
mod destructive;
mod find;
mod found;
mod git;
mod pkill;
mod ps;
mod sync;
mod timeout;
mod tools;
mod wrappers;

use super::builtins;
use super::call::{Call, Checked, Validator};
use super::judge::{Known, Owner, Program};
use super::names::Names;
use crate::policy::Profile;

pub(crate) use wrappers::find as wrapper;

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
    for (name, check) in base::COMMANDS {
        add(name, Owner::Base, *check, *check);
    }
    for (name, check) in [
        ("mkdir", copy::mkdir as Validator),
        ("cp", copy::cp),
        ("chmod", chmod::check),
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
            add(name, owner, tools::find(name), sync::find(name));
        }
    }
    commands
}

/// Any arguments will do.
fn free(_: &Call<'_, '_, '_>) -> Checked {
    Ok(())
}
