//! Checks assignments: denied variables and accepted values.
//!
//! [`check`] judges all assignments: before a command, standalone, and by `export`, `declare` and
//! `env`. [`tables`] lists the variables that programs read; [`allow_list`] lists those that may be
//! set for a command in sync mode.

mod accepted_values;
mod allow_list;
mod group;
mod search_path;
mod tables;

use super::arg::Arg;
use super::call::{Call, Checked};
use super::directories::Directories;
use crate::policy::{Mode, Policy};
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

/// The way a variable is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Before `read`, for it alone.
    ForRead,
    /// By a standalone assignment. It reaches programs only if the variable is already exported.
    Unexported,
    /// Before a command, or by `export`, `declare -x` or `env`.
    Exported,
}

/// Checks that the variable `name` may be set to `value`; `None` is an unknown value.
pub(crate) fn check(
    policy: &Policy,
    directories: &Directories<'_>,
    name: &str,
    value: Option<&[Part<'_>]>,
    setting: Setting,
    span: Span,
) -> Result<(), Denial> {
    if name == "IFS" && setting == Setting::ForRead {
        return Ok(());
    }
    let is_exported = setting == Setting::Exported;
    if let Some(found) = group::find(name, is_exported) {
        let Some(accepts) = found.accepts else {
            let reason = format!("the variable '{name}' may not be set");
            return Err(Denial::by(found.group.rule, span, reason)
                .rationale(found.group.reason)
                .instead("run the command without it"));
        };
        let holds = value.is_some_and(|value| accepts.holds(policy, directories, name, value));
        if !holds {
            let reason = format!("the variable '{name}' may not be set to this value");
            let rule = match found.group.rule {
                Rule::R15 => Rule::R16,
                rule => rule,
            };
            return Err(Denial::by(rule, span, reason).instead(accepts.instead()));
        }
    }
    if is_exported {
        check_allow_list(policy, name, span)
    } else {
        Ok(())
    }
}

/// Checks the argument `NAME=value` of a program that passes it to the environment of others.
pub(crate) fn check_argument(call: &Call<'_, '_, '_>, arg: &Arg<'_>, name: &str) -> Checked {
    let value = arg
        .is_static()
        .then(|| [Part::Quoted(arg.text[name.len() + 1..].to_owned().into())]);
    let value = value.as_ref().map(|value| &value[..]);
    let (policy, here) = (call.policy(), call.directories);
    check(policy, here, name, value, Setting::Exported, arg.span)
}

/// Checks that the variable `name` may be exported with any value.
///
/// Every assignment to a variable with accepted values is checked separately.
pub(crate) fn check_export(policy: &Policy, name: &str, span: Span) -> Result<(), Denial> {
    match group::find(name, true) {
        Some(found)
            if found.accepts.is_none()
                || !found.counts_anywhere
                || found.group.rule == Rule::R15 =>
        {
            Err(not_settable(name, found.group, span))
        }
        _ => check_allow_list(policy, name, span),
    }
}

/// Checks that in sync mode a command gets only variables of the allow-list.
fn check_allow_list(policy: &Policy, name: &str, span: Span) -> Result<(), Denial> {
    if policy.mode() == Mode::Run || allow_list::contains(name) {
        return Ok(());
    }
    let reason = format!("the variable '{name}' is not in the allow-list for sync mode");
    Err(Denial::by(Rule::R90, span, reason).instead(
        "run the command without it, or use plain settings such as CI=1 and NODE_ENV=test",
    ))
}

/// Returns whether `text` contains only options of Node.js that load, run and write nothing.
pub(crate) fn are_node_options(text: &str) -> bool {
    accepted_values::are_options(tables::NODE_OPTIONS, text)
}

/// Returns whether `text` contains only options of compilers and linkers that neither load plugins
/// nor name other programs or outputs.
pub(crate) fn are_compiler_options(text: &str) -> bool {
    accepted_values::are_options(tables::COMPILER, text)
}

/// Returns whether the variable `name` may not be set to unknown values.
pub(crate) fn is_protected(name: &str) -> bool {
    group::find(name, false).is_some()
}

/// Returns whether make uses the variable `name` to find its shell, itself or other makefiles.
pub(crate) fn is_make_variable(name: &str) -> bool {
    const OWN: &[&str] = words!(
        "SHELL MAKE MAKE_COMMAND MAKECMDGOALS OUTPUT_OPTION TARGET_ARCH TARGET_MACH ARFLAGS",
        "COFLAGS GFLAGS LDLIBS LFLAGS LINTFLAGS LOADLIBES PFLAGS RFLAGS TEXI2DVI_CMD YFLAGS",
    );
    OWN.contains(&name) || name.starts_with("MAKEF")
}

/// Checks the name of a variable that is set to an unknown value.
pub(crate) fn check_name(name: &str, span: Span) -> Result<(), Denial> {
    match group::find(name, false) {
        Some(found) => Err(not_settable(name, found.group, span)),
        None => Ok(()),
    }
}

fn not_settable(name: &str, group: &tables::Group, span: Span) -> Denial {
    let reason = format!("the variable '{name}' may not be set");
    Denial::by(group.rule, span, reason)
        .rationale(group.reason)
        .instead("use another name")
}
