//! Programs passed as an argument, such as sed and awk scripts, and the files that they name.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::credentials;
use crate::syntax::Span;
use crate::{Denial, Rule};

/// Returns the possible texts of a program, if all of it is known.
///
/// A variable whose assignment may have been skipped adds a second text, without its value.
pub(super) fn program_texts(arg: &Arg<'_>) -> Option<Vec<String>> {
    let texts = [Some(arg.known()?), arg.without_variables.as_deref()];
    Some(texts.into_iter().flatten().map(str::to_owned).collect())
}

/// Checks that a program reads the file `path` from the project or `/tmp`, and no credentials.
///
/// A name inside a program is not an argument, so the checks of arguments do not cover it.
pub(super) fn check_read(call: &Call<'_, '_, '_>, rule: Rule, path: &str, span: Span) -> Checked {
    let is_input = matches!(path, "-" | "/dev/stdin" | "/dev/null");
    if is_input || call.is_in_reach(path) {
        credentials::check_input(
            call.context,
            call.directories,
            &Arg::plain(path.to_owned(), span),
        )
    } else {
        let reason = format!("the {} program reads '{path}'", call.name);
        Err(Denial::by(rule, span, reason)
            .instead("name the file as an argument after the program"))
    }
}
