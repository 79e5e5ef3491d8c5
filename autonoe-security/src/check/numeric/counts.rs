//! Commands that only print a number.

use super::is_integer;
use crate::check::option_safe::{is_list_part as is_list, is_word_option_safe};
use crate::check::scope::Scope;
use crate::syntax::{
    ArgWord, CommandKind, Connector, Part, Redirect, RedirectOperator, RedirectTarget, Script,
    SimpleCommand, Text, Word,
};

/// Returns whether a script only prints a number.
///
/// `cd` may precede it, since it prints nothing, and `|| true` or `|| echo 0` may follow.
pub(super) fn prints_a_number(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    let [item] = &script.items[..] else {
        return false;
    };
    let mut counted = false;
    for (connector, pipeline) in &item.pipelines {
        let Some(command) = pipeline.commands.last() else {
            return false;
        };
        let CommandKind::Simple(last) = &command.kind else {
            return false;
        };
        if !command.redirects.iter().all(adds_nothing) || !last.assignments.is_empty() {
            return false;
        }
        if last.words.iter().any(prints_by_itself) {
            return false;
        }
        let is_alone = pipeline.commands.len() == 1;
        match (connector, counted) {
            (Connector::First | Connector::And, false) if is_alone && is_named(last, "cd") => {}
            (Connector::First | Connector::And, false) if counts(scope, last) => counted = true,
            (Connector::Or, true) if is_alone && is_fallback(last) => {}
            _ => return false,
        }
    }
    counted
}

fn is_named(simple: &SimpleCommand<'_>, name: &str) -> bool {
    simple
        .static_words()
        .is_some_and(|words| words.first().is_some_and(|first| first == name))
}

fn is_fallback(simple: &SimpleCommand<'_>) -> bool {
    simple.has_static_words(|words| match words {
        ["true" | ":"] => true,
        ["echo", number] => is_integer(number),
        _ => false,
    })
}

/// Returns whether the command prints a count or a time.
///
/// `wc` and `grep` also print the names of files in their arguments, and a name can be an
/// expression too.
fn counts(scope: &Scope<'_>, simple: &SimpleCommand<'_>) -> bool {
    let mut words = simple.words.iter().filter_map(|word| match word {
        ArgWord::Word(word) => Some(word),
        ArgWord::Array(_) => None,
    });
    let Some(name) = words.next().and_then(Word::static_text) else {
        return false;
    };
    let (options, operands): (Vec<_>, Vec<_>) = words
        .map(|word| (word.static_text(), word))
        .partition(|(text, _)| text.as_deref().is_some_and(|text| text.starts_with('-')));
    let has = |option: &str| {
        options
            .iter()
            .any(|(text, _)| text.as_deref() == Some(option))
    };
    let has_letter = |letters: &[char]| {
        let text = options.iter().filter_map(|(text, _)| text.as_deref());
        text.filter(|text| !text.starts_with("--"))
            .any(|text| text.contains(letters))
    };
    let word_is = |at: usize, expected: &str| {
        operands
            .get(at)
            .is_some_and(|(text, _)| text.as_deref() == Some(expected))
    };
    match name.as_ref() {
        "wc" => operands.is_empty() && options.iter().all(is_plain_wc_option),
        "grep" => {
            let is_no_option =
                |word: &Word<'_>| is_one_argument(word) && is_word_option_safe(scope, word);
            let one_file = match &operands[..] {
                [(_, pattern)] => is_no_option(pattern),
                [(_, pattern), (_, file)] => is_no_option(pattern) && is_no_option(file),
                _ => false,
            };
            let is_plain = |(text, _): &(Option<Text<'_>>, _)| {
                text.as_deref().is_some_and(is_plain_grep_option)
            };
            (has_letter(&['c']) || has("--count")) && options.iter().all(is_plain) && one_file
        }
        "git" => {
            word_is(0, "rev-list")
                && has("--count")
                && !has("--")
                && options.iter().all(is_plain_count)
                && operands
                    .iter()
                    .all(|(_, word)| is_one_argument(word) && is_word_option_safe(scope, word))
        }
        "date" => is_seconds(simple),
        _ => false,
    }
}

/// Returns whether a redirection adds nothing to the output.
fn adds_nothing(redirect: &Redirect<'_>) -> bool {
    if matches!(&redirect.target, RedirectTarget::Word(word) if has_process(&word.parts)) {
        return false;
    }
    match redirect.operator {
        RedirectOperator::Read | RedirectOperator::HereDocument | RedirectOperator::HereString => {
            true
        }
        _ => match &redirect.target {
            RedirectTarget::Word(word) => word.static_text().as_deref() == Some("/dev/null"),
            RedirectTarget::HereDocument(_) => false,
        },
    }
}

/// Returns whether an option of `git rev-list` only selects the counted commits.
fn is_plain_count((option, _): &(Option<Text<'_>>, &Word<'_>)) -> bool {
    option.as_deref().is_some_and(|option| {
        let name = option.split('=').next().unwrap_or(option);
        let takes_next = option == name;
        match name {
            "--count" | "--all" | "--merges" | "--no-merges" | "--first-parent" | "--branches"
            | "--tags" | "--remotes" | "--not" => true,
            "--since" | "--until" | "--after" | "--before" | "--author" | "--max-count" => {
                !takes_next
            }
            _ => false,
        }
    })
}

/// Returns whether an option of grep changes neither the output nor the file.
fn is_plain_grep_option(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => words!(
            "count ignore-case invert-match word-regexp line-regexp extended-regexp",
            "fixed-strings perl-regexp no-filename no-messages"
        )
        .contains(&long),
        None => option[1..]
            .bytes()
            .all(|letter| b"cviwxEFPGhsna".contains(&letter)),
    }
}

/// Returns whether `date` prints the seconds since the epoch.
fn is_seconds(simple: &SimpleCommand<'_>) -> bool {
    let words = simple.words.iter().skip(1).map(ArgWord::static_text);
    let mut found = false;
    let mut is_value = false;
    for word in words {
        if std::mem::take(&mut is_value) {
            continue;
        }
        match word.as_deref() {
            Some("+%s") => found = true,
            Some("-d" | "-r" | "--date" | "--reference") => is_value = true,
            Some("-u" | "--utc") => {}
            Some(text) if text.starts_with("--date=") || text.starts_with("--reference=") => {}
            _ => return false,
        }
    }
    found
}

/// Returns whether an option of wc only selects what is counted.
fn is_plain_wc_option((option, _): &(Option<Text<'_>>, &Word<'_>)) -> bool {
    option
        .as_deref()
        .is_some_and(|option| match option.strip_prefix("--") {
            Some(long) => matches!(
                long,
                "lines" | "words" | "chars" | "bytes" | "max-line-length"
            ),
            None => {
                let letters = option.trim_start_matches('-');
                !letters.is_empty() && letters.bytes().all(|letter| b"lwcmL".contains(&letter))
            }
        })
}

/// Returns whether a word starts a command that prints to the same output.
fn prints_by_itself(word: &ArgWord<'_>) -> bool {
    match word {
        ArgWord::Word(word) => has_process(&word.parts),
        ArgWord::Array(_) => true,
    }
}

fn has_process(parts: &[Part<'_>]) -> bool {
    parts
        .iter()
        .any(|part| matches!(part, Part::ProcessSubstitution(_)))
}

/// Returns whether a word stays one argument whatever its expansions yield.
fn is_one_argument(word: &Word<'_>) -> bool {
    word.parts.iter().all(|part| match part {
        Part::Literal(_) | Part::Quoted(_) => true,
        Part::DoubleQuoted(inner) => !inner.iter().any(is_list),
        _ => false,
    })
}
