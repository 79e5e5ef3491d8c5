//! Commands whose output never looks like an option, whatever the files, the refs and the environment
//! hold.

use super::Splits;
use crate::check::git_hashes::{self, HashLines};
use crate::check::scope::Scope;
use crate::check::temporary;
use crate::check::text::has_only;
use crate::syntax::{CommandKind, Redirect, Script, Text};

/// The output of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    /// One word, or nothing.
    Word,
    /// The name of a ref: one word that may start with `-`, or nothing.
    RefName,
    /// Several words, none of which starts with `-`.
    Words,
    /// Text that becomes several words without quotes.
    Text,
}

/// Returns whether a script that prints no option prints one word, not a list.
pub(super) fn prints_one_word(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    output(scope, script) == Some(Output::Word)
}

/// Returns whether a script prints one word, or nothing. It may start with `-`.
pub(super) fn prints_ref_name(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    output(scope, script) == Some(Output::RefName)
}

/// Returns whether a script always prints something.
pub(super) fn always_prints(script: &Script<'_>) -> bool {
    only_words(script).is_some_and(|words| words.first().is_some_and(|name| name == "date"))
}

/// Returns whether the output of a script can never start with `-`.
pub(super) fn prints_no_option(scope: &Scope<'_>, script: &Script<'_>, splits: Splits) -> bool {
    match output(scope, script) {
        Some(Output::Word | Output::Words) => true,
        Some(Output::Text) => splits == Splits::No,
        Some(Output::RefName) | None => false,
    }
}

/// Returns the output of a script, if it is known.
fn output(scope: &Scope<'_>, script: &Script<'_>) -> Option<Output> {
    if let Some(lines) = git_hashes::script_lines(script) {
        return Some(match lines {
            HashLines::One => Output::Word,
            HashLines::Only => Output::Words,
            HashLines::First => Output::Text,
        });
    }
    let words = only_words(script)?;
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words[..] {
        // The directory of the project has the name that the operator gave it.
        ["pwd"] if !scope.survey().enters_split_directory => Some(Output::Word),
        ["pwd"] | ["pwd", "-P" | "-L"] => Some(Output::Text),
        ["git", "rev-parse", "--show-toplevel"] | ["npm", "root" | "prefix"] => Some(Output::Text),
        ["go", "list", "-m", "-f", "{{.Dir}}", ref names @ ..]
        | ["go", "list", "-f", "{{.Dir}}", ref names @ ..]
            if !names.iter().any(|name| name.starts_with('-')) =>
        {
            Some(Output::Text)
        }
        ["date", format] | ["date", "-u" | "--utc", format] if is_date_format(format) => {
            Some(Output::Word)
        }
        ["mktemp", ..] if temporary::prints_absolute_path(scope, &words) => Some(Output::Word),
        // A name that is no revision is printed as it is written.
        ["git", "rev-parse", name]
        | ["git", "rev-parse", "--short" | "--verify", name]
        | ["git", "rev-parse", "--verify", "-q" | "--quiet", name]
            if is_revision(name) =>
        {
            Some(Output::Word)
        }
        ["git", "merge-base", one, other] if is_revision(one) && is_revision(other) => {
            Some(Output::Word)
        }
        ["git", "write-tree"] | ["git", "symbolic-ref", "HEAD"] => Some(Output::Word),
        // Git refuses such names for new branches and tags, but other repositories may have them.
        ["git", "branch", "--show-current"] | ["git", "rev-parse", "--abbrev-ref", "HEAD"] => {
            let stays = !scope.survey().changes_directory;
            Some(if stays { Output::Word } else { Output::RefName })
        }
        ["git", "describe", ref options @ ..]
            if options.iter().all(|it| {
                matches!(
                    *it,
                    "--tags" | "--always" | "--dirty" | "--abbrev=0" | "--long"
                )
            }) =>
        {
            Some(Output::RefName)
        }
        ["git", "hash-object", file] | ["git", "hash-object", "-w", file]
            if !file.starts_with('-') =>
        {
            Some(Output::Word)
        }
        _ => None,
    }
}

/// Returns whether a word names one revision, and starts with a letter or a digit.
fn is_revision(word: &str) -> bool {
    let (name, ancestor) = word.split_at(word.find(['~', '^']).unwrap_or(word.len()));
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && has_only(name, "._/-")
        && !name.contains("..")
        && ancestor.bytes().all(|byte| b"~^0123456789".contains(&byte))
}

/// Returns the words of the only simple command of a script, if all are known and it at most discards
/// its errors.
fn only_words<'t>(script: &'t Script<'_>) -> Option<Vec<Text<'t>>> {
    let command = script.only_command()?;
    match &command.kind {
        CommandKind::Simple(simple)
            if simple.assignments.is_empty()
                && command.redirects.iter().all(Redirect::discards_errors) =>
        {
            simple.static_words()
        }
        _ => None,
    }
}

/// Returns whether `date` prints one word in this format, which starts with a digit: digits, and
/// literal text of letters, digits and `-_:.`.
pub(in crate::check) fn is_date_format(format: &str) -> bool {
    let Some(conversions) = format.strip_prefix("+%") else {
        return false;
    };
    conversions.split('%').all(|conversion| {
        let is_text = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte);
        conversion.starts_with(['Y', 'm', 'd', 'H', 'M', 'S', 's', 'F', 'T'])
            && conversion.bytes().all(is_text)
    })
}
