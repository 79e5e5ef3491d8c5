//! Options of profile tools that run code or write files.
//!
//! [`check`] judges them in run mode, and [`check_tool`] makes the checks that both modes share.
//! Sync mode uses the same tables of options and spellings.

mod argument_files;
pub(in crate::check::commands) mod emptied;
mod external_code;
mod go_flags;
mod outputs;
mod own_args;
mod package_sources;
mod programs;
mod rustc_flags;
mod secrets;
pub(in crate::check::commands) mod spelling;
pub(in crate::check::commands) mod targets;
mod tool;

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};

pub(crate) use self::own_args::own_args;
pub(in crate::check::commands) use self::tool::{Tool, option_name};

/// Judges the options of a tool in run mode.
pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    check_as(call, call.name, call.args)
}

/// Judges the options of the tool `name` that `call` starts in run mode.
pub(super) fn check_as<'s>(call: &Call<'_, '_, 's>, name: &str, args: &[Arg<'s>]) -> Checked {
    let tool = Tool {
        call,
        name,
        args,
        at: None,
    };
    check_tool(&tool)?;
    outputs::check(&tool)
}

/// Checks that no option names code or programs outside of the project, in both modes.
pub(super) fn check_tool(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    argument_files::check(tool)?;
    go_flags::check(tool)?;
    rustc_flags::check(tool)?;
    programs::check(tool)?;
    external_code::check(tool)?;
    package_sources::check(tool)?;
    secrets::check(tool)
}
