//! Variables that may not be set, and values that they may have.

mod exception;
mod names;
mod search_path;

use self::exception::Exception;
use super::directories::Directories;
use crate::policy::Policy;
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

pub(crate) use self::names::is_protected;

/// Where a variable is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// In front of `read`, for it alone.
    ForRead,
    /// Anywhere else.
    Other,
}

/// Checks that the variable `name` may be set to `value`; `None` if its value is not known.
pub(crate) fn check(
    policy: &Policy,
    directories: &Directories<'_>,
    name: &str,
    value: Option<&[Part<'_>]>,
    setting: Setting,
    span: Span,
) -> Result<(), Denial> {
    if !is_protected(name) || (name == "IFS" && setting == Setting::ForRead) {
        return Ok(());
    }
    let Some(exception) = Exception::of(name) else {
        let reason = format!("the variable '{name}' may not be set");
        return Err(Denial::by(Rule::R15, span, reason).instead("run the command without it"));
    };
    let holds = value.is_some_and(|value| exception.holds(policy, directories, name, value));
    match holds {
        true => Ok(()),
        false => {
            let reason = format!("the variable '{name}' may not be set to this value");
            Err(Denial::by(Rule::R16, span, reason).instead(exception.instead()))
        }
    }
}

/// Checks the name of a variable that is set to something that is not known.
pub(crate) fn check_name(name: &str, span: Span) -> Result<(), Denial> {
    if !is_protected(name) {
        return Ok(());
    }
    let reason = format!("the variable '{name}' may not be set");
    Err(Denial::by(Rule::R15, span, reason).instead("use another name"))
}
