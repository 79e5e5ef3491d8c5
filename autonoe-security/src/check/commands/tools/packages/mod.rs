//! Programs of packages: those that runners such as `npx` start, and that are no command of the
//! policy.
//!
//! A package may do what the project's code may do. Denied are uses that publish, install hooks,
//! attach to processes or reach outside of the project, and commands that it would start and that
//! are denied themselves.

mod launchers;
mod pages;
mod paths;
mod uses;

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::tool_options::{Tool, emptied};
use crate::syntax::Span;

pub(super) use self::paths::check as reaches_no_other_place;

/// A started program that is no command of the policy.
#[derive(Clone, Copy)]
pub(super) struct Package<'p, 's> {
    pub(super) name: &'p str,
    pub(super) args: &'p [Arg<'s>],
    pub(super) span: Span,
    /// Whether it is installed. Otherwise it may be a script of the project.
    pub(super) is_installed: bool,
}

/// Judges a package.
pub(super) fn check<'s>(call: &Call<'_, '_, 's>, package: &Package<'_, 's>) -> Checked {
    uses::check(package)?;
    launchers::check(call, package)?;
    pages::check(package)?;
    emptied::check(&Tool {
        call,
        name: package.name,
        args: package.args,
        at: None,
    })?;
    if package.is_installed {
        paths::check(call, package.args)
    } else {
        Ok(())
    }
}
