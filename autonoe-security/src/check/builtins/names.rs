//! Variable names passed to builtins as arguments.

use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::call::{Call, Checked};
use crate::{Denial, Rule};

/// Returns whether `text` can be the name of a variable.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Checks that `arg` is exactly the name of a variable that may be set.
pub(super) fn check(arg: &Arg<'_>) -> Checked {
    is_plain(arg)?;
    assignments::check_name(&arg.text, arg.span)
}

/// Checks that `arg` is exactly the name of a variable that may be exported.
pub(super) fn check_export(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    is_plain(arg)?;
    assignments::check_export(call.policy(), &arg.text, arg.span)
}

/// Checks that an option is literal, because the survey of variables reads options as well.
pub(super) fn check_literal_option(option: &Arg<'_>) -> Checked {
    // The reader of the option judges dynamic text.
    if !option.is_static() || (option.is_literal() && !option.braced) {
        return Ok(());
    }
    let reason = "an option is put together by variables or braces";
    Err(Denial::by(Rule::R12, option.span, reason).instead("write the option literally"))
}

/// Checks that `arg` is exactly the name of a variable.
fn is_plain(arg: &Arg<'_>) -> Checked {
    match arg.known() {
        // The survey of variables recognises literal names.
        Some(name) if is_identifier(name) && arg.is_literal() && !arg.braced => Ok(()),
        _ => {
            let reason = "the name of the variable is not a plain name";
            Err(Denial::by(Rule::R12, arg.span, reason)
                .instead("write the name literally, without a subscript"))
        }
    }
}
