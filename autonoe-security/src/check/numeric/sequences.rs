//! `seq`: a list of numbers for a loop.

use super::is_safe_part;
use crate::check::scope::Scope;
use crate::check::text;
use crate::syntax::{ArgWord, CommandKind, Part, Script};

/// Returns whether a script is `seq` with numbers that are not negative, so that it prints one such
/// number on each line.
pub(crate) fn prints_numbers(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    let Some(command) = script.only_command() else {
        return false;
    };
    let CommandKind::Simple(simple) = &command.kind else {
        return false;
    };
    let Some((name, args)) = simple.words.split_first() else {
        return false;
    };
    let is_plain = command.redirects.is_empty() && simple.assignments.is_empty();
    is_plain
        && name.static_text().as_deref() == Some("seq")
        && (1..=3).contains(&args.len())
        && args
            .iter()
            .enumerate()
            .all(|(at, word)| is_number(scope, word, args.len() == 3 && at == 1))
}

/// Returns whether a word is a number. The step may be negative.
fn is_number(scope: &Scope<'_>, word: &ArgWord<'_>, is_step: bool) -> bool {
    if let Some(text) = word.static_text() {
        let digits = text.strip_prefix('-').filter(|_| is_step).unwrap_or(&text);
        return text::is_number(digits);
    }
    let ArgWord::Word(word) = word else {
        return false;
    };
    match &word.parts[..] {
        [Part::DoubleQuoted(inner)] => {
            matches!(&inner[..], [part] if is_safe_part(scope, part))
        }
        [part] => is_safe_part(scope, part),
        _ => false,
    }
}
