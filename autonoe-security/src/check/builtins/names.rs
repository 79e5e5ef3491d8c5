//! Names of variables that are handed to builtins.

use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::call::{Call, Checked};
use crate::{Denial, Rule};

/// Tells whether `text` can be the name of a variable.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Checks that `arg` names a variable that may be set, and nothing more.
pub(super) fn check(arg: &Arg<'_>) -> Checked {
    is_plain(arg)?;
    assignments::check_name(&arg.text, arg.span)
}

/// Checks that `arg` names a variable that commands may get, and nothing more.
pub(super) fn check_export(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    is_plain(arg)?;
    assignments::check_export(call.policy(), &arg.text, arg.span)
}

/// Checks that an option is written out: the survey of variables looks at options as well.
pub(super) fn option_is_written_out(option: &Arg<'_>) -> Checked {
    // What is not static is judged by who reads the option.
    if !option.is_static() || (option.is_written_out() && !option.braced) {
        return Ok(());
    }
    let reason = "an option is put together by variables or braces";
    Err(Denial::by(Rule::R12, option.span, reason).instead("write the option literally"))
}

/// Checks that `arg` names a variable, and nothing more.
fn is_plain(arg: &Arg<'_>) -> Checked {
    match arg.known() {
        // The survey of variables sees names that are written out.
        Some(name) if is_identifier(name) && arg.is_written_out() && !arg.braced => Ok(()),
        _ => {
            let reason = "the name of the variable is not a plain name";
            Err(Denial::by(Rule::R12, arg.span, reason)
                .instead("write the name literally, without a subscript"))
        }
    }
}
