//! Class paths: lists of folders and archives of classes.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::built_programs;
use crate::check::commands::strict_options::{check_source_path, is_of_system, paths};
use crate::check::write_target::escapes;
use crate::{Denial, Rule};

/// Checks that classes come from the project, the system, or a folder in `/tmp` that the same text
/// has just filled.
pub(super) fn check(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    // The shell seldom finds a match for a list of folders, and the matches begin with its text.
    if value.globs.first() == Some(&0) || value.text.starts_with('-') {
        let reason = "the class path is unknown until it runs";
        return Err(Denial::by(Rule::R100, value.span, reason)
            .instead("quote it: java -cp 'target/classes:lib/*' MainClass"));
    }
    let all = paths(value, call).ok_or_else(|| escapes(value, Rule::R100))?;
    for path in all.iter().flat_map(|text| text.split([':', ';'])) {
        if path.starts_with('~') {
            return Err(escapes(value, Rule::R100));
        }
        // An empty entry is the current directory.
        let path = if path.is_empty() { "." } else { path };
        if is_of_system(path) || built_programs::is_built_folder(call, path) {
            continue;
        }
        check_source_path(call, Rule::R100, path, value.span)?;
    }
    Ok(())
}
