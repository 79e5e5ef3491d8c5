//! Programs passed as an argument, such as sed and awk scripts, and the files that they name.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::credentials;
use crate::check::{numeric, sample_values};
use crate::syntax::{Part, Span};
use crate::{Denial, Rule};

/// Returns the possible texts of a program, if all of it is known.
///
/// An expansion that is certainly a number counts as a digit: `sed -n "${n}p"`. A hash of a commit
/// and a date count as each of their samples. A variable whose assignment may have been skipped adds
/// a second text, without its value.
pub(super) fn program_texts(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Option<Vec<String>> {
    if let Some(text) = arg.known() {
        let texts = [Some(text), arg.without_variables.as_deref()];
        return Some(texts.into_iter().flatten().map(str::to_owned).collect());
    }
    let is_quoted = arg.unknown.is_some_and(|unknown| unknown.quoted);
    if !is_quoted || arg.is_pattern() || arg.tilde {
        return None;
    }
    let mut written = Written::default();
    let is_known = written.add(call, &arg.parts);
    if !is_known {
        return sample_values::texts(call.context.scope, arg);
    }
    // The value of an option in the same argument has the parts of the whole argument.
    let is_whole = written.text.get(..written.first_number?) == Some(arg.text.as_ref());
    is_whole.then(|| vec![written.text])
}

/// Text with a digit for every number.
#[derive(Default)]
struct Written {
    text: String,
    first_number: Option<usize>,
}

impl Written {
    /// Adds `parts`, and returns whether all of them are text or numbers.
    fn add(&mut self, call: &Call<'_, '_, '_>, parts: &[Part<'_>]) -> bool {
        parts.iter().all(|part| match part {
            Part::Literal(literal) | Part::Quoted(literal) => {
                self.text.push_str(literal);
                true
            }
            Part::DoubleQuoted(inner) => self.add(call, inner),
            part if numeric::is_safe_part(call.context.scope, part) => {
                self.first_number.get_or_insert(self.text.len());
                self.text.push('1');
                true
            }
            _ => false,
        })
    }
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
