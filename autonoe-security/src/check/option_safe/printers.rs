//! Commands whose output never looks like an option.

use super::{Splits, is_list_part, is_word_option_safe};
use crate::check::git_hashes::{self, HashLines};
use crate::check::scope::Scope;
use crate::check::temporary;
use crate::syntax::{
    ArgWord, CommandKind, Part, Redirect, RedirectOperator, RedirectTarget, Script, SimpleCommand,
    Text,
};

/// Returns whether a script that prints no option prints one word, not a list.
pub(super) fn prints_one_word(script: &Script<'_>) -> bool {
    let words: Vec<Text<'_>> = only_command(script).map_or_else(Vec::new, known_words);
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words[..] {
        ["git", "rev-parse", ref args @ ..] => {
            args.iter().filter(|arg| !arg.starts_with('-')).count() <= 1
        }
        ["git", "rev-list", ref args @ ..] => {
            let mut options = args.iter().take_while(|arg| **arg != "--");
            options.any(|arg| *arg == "--count") || git_hashes::prints_one_line(&words)
        }
        ["git", "log", ..] => git_hashes::prints_one_line(&words),
        ["go", "list", "-m", "-f", _, name] | ["go", "list", "-f", _, name] => {
            !name.contains("...") && name != "all"
        }
        ["go", "list", ..] => false,
        ["git", "merge-base", ref args @ ..] => !args.contains(&"--all") && !args.contains(&"-a"),
        ["git", "hash-object", ref args @ ..] => args.len() <= 2,
        _ => true,
    }
}

/// Returns whether a script always prints something.
pub(super) fn always_prints(script: &Script<'_>) -> bool {
    let words = only_command(script).map_or_else(Vec::new, known_words);
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    matches!(words[..], ["date", format] if format.starts_with("+%"))
}

/// Returns whether the output of a script can never start with `-`.
pub(super) fn prints_no_option(scope: &Scope<'_>, script: &Script<'_>, splits: Splits) -> bool {
    only_command(script).is_some_and(|simple| {
        simple.words.iter().all(|word| is_plain_word(scope, word))
            && is_safe_printer(scope, simple, splits)
    })
}

/// Returns the only simple command of a script, if its output is not redirected.
fn only_command<'t, 's>(script: &'t Script<'s>) -> Option<&'t SimpleCommand<'s>> {
    let command = script.only_command()?;
    match &command.kind {
        CommandKind::Simple(simple) if command.redirects.iter().all(hides_errors) => Some(simple),
        _ => None,
    }
}

/// Returns whether a redirection only discards errors.
fn hides_errors(redirect: &Redirect<'_>) -> bool {
    let is_nowhere = matches!(&redirect.target, RedirectTarget::Word(word)
        if word.static_text().as_deref() == Some("/dev/null"));
    is_nowhere && redirect.operator == RedirectOperator::Write
}

/// Returns whether a word is one known argument, or cannot be an option.
fn is_plain_word(scope: &Scope<'_>, word: &ArgWord<'_>) -> bool {
    match word {
        ArgWord::Array(_) => false,
        ArgWord::Word(word) => {
            word.static_text().is_some()
                || (matches!(&word.parts[..], [.., Part::DoubleQuoted(inner)] if !inner.iter().any(is_list_part))
                    && word.parts.iter().all(|part| {
                        matches!(
                            part,
                            Part::Literal(_) | Part::Quoted(_) | Part::DoubleQuoted(_)
                        )
                    })
                    && is_word_option_safe(scope, word))
        }
    }
}

/// Returns the words of a command; words with expansions are empty.
fn known_words<'t>(simple: &'t SimpleCommand<'_>) -> Vec<Text<'t>> {
    let text = |word: &'t ArgWord<'_>| word.static_text().unwrap_or_default();
    simple.words.iter().map(text).collect()
}

fn is_safe_printer(scope: &Scope<'_>, simple: &SimpleCommand<'_>, splits: Splits) -> bool {
    if !simple.assignments.is_empty() {
        return false;
    }
    let words = known_words(simple);
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words[..] {
        ["pwd"] | ["pwd", "-P" | "-L"] => stays_one_word(scope, splits),
        ["git", "rev-parse", "--show-toplevel"] => stays_one_word(scope, splits),
        ["date", format] | ["date", "-u" | "--utc", format] => is_plain_format(format, splits),
        ["git", "branch", "--show-current"] => true,
        ["git", "rev-parse", ref args @ ..] => args.iter().all(|arg| is_plain_rev_parse(arg)),
        ["git", "rev-list", ref args @ ..] => !args.iter().any(|arg| {
            words!("--format --pretty --header --no-commit --oneline --left --cherry")
                .iter()
                .any(|option| arg.starts_with(option))
        }),
        ["git", "log", ..] => match git_hashes::printed_lines(&words) {
            Some(HashLines::Only) => true,
            Some(HashLines::First) => splits == Splits::No,
            None => false,
        },
        ["mktemp", ..] => temporary::prints_absolute_path(scope, &words),
        ["go", "list", "-m", "-f", "{{.Dir}}", ref names @ ..]
        | ["go", "list", "-f", "{{.Dir}}", ref names @ ..] => {
            !names.iter().any(|name| name.starts_with('-')) && stays_one_word(scope, splits)
        }
        ["go", "env", name @ ("GOROOT" | "GOPATH" | "GOMODCACHE")] => {
            let is_unset = scope.survey().variable(name).is_none() && !scope.inherits(name);
            is_unset && stays_one_word(scope, splits)
        }
        ["npm", "root" | "prefix"] => stays_one_word(scope, splits),
        ["bundle", "show", name]
        | ["bundle", "info", "--path", name]
        | ["bundle", "info", name, "--path"] => {
            !name.starts_with('-') && stays_one_word(scope, splits)
        }
        ["python" | "python3", "-c", program] => {
            splits == Splits::No && prints_path_of_module(program)
        }
        ["git", "describe", ..] => splits == Splits::No || marks_are_plain(simple),
        [
            "git",
            "merge-base" | "symbolic-ref" | "hash-object" | "write-tree",
            ..,
        ] => true,
        _ => false,
    }
}

/// Returns whether a program of Python only prints where a module is, which is an absolute path:
/// `import x; print(x.__file__)`. Code of the module that prints something else could also act.
fn prints_path_of_module(program: &str) -> bool {
    let is_name = |text: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.".contains(&byte);
        !text.is_empty() && text.bytes().all(is_part)
    };
    let Some((imports, printed)) = program.split_once(';') else {
        return false;
    };
    let Some(names) = imports.trim().strip_prefix("import ") else {
        return false;
    };
    let printed = printed.trim().strip_prefix("print(");
    let Some(printed) = printed.and_then(|it| it.strip_suffix(')')) else {
        return false;
    };
    let folder = printed.strip_prefix("os.path.dirname(");
    let file = folder
        .and_then(|it| it.strip_suffix(')'))
        .unwrap_or(printed);
    names.split(',').all(|name| is_name(name.trim()))
        && file.strip_suffix(".__file__").is_some_and(is_name)
}

/// Returns whether the suffixes that `git describe` adds to a name contain no blanks.
fn marks_are_plain(simple: &SimpleCommand<'_>) -> bool {
    let begins_mark = |text: &str| text.starts_with("--d") || text.starts_with("--b");
    simple.words.iter().all(|word| match word.static_text() {
        Some(text) => !begins_mark(&text) || !text.contains([' ', '\t', '\n', '*', '?', '[']),
        None => !matches!(word, ArgWord::Word(word)
            if matches!(word.parts.first(), Some(Part::Literal(text) | Part::Quoted(text))
                if text.starts_with('-'))),
    })
}

/// Returns whether the name of the directory stays one word if it is split.
fn stays_one_word(scope: &Scope<'_>, splits: Splits) -> bool {
    splits == Splits::No || !scope.survey().enters_split_directory
}

/// Returns whether `date` only prints digits and similar characters in this format, as one word if
/// required.
fn is_plain_format(format: &str, splits: Splits) -> bool {
    const PLAIN: &str = "YmdHMSsNjuwFTDRyCegGVUWIklpPhbBaA%";
    let Some(format) = format.strip_prefix("+%") else {
        return false;
    };
    let mut conversions = format.split('%');
    let is_plain = conversions.all(|conversion| {
        let letter = conversion.trim_start_matches(['-', '0']).chars().next();
        letter.is_none_or(|letter| PLAIN.contains(letter))
    });
    is_plain && !(splits == Splits::Yes && format.contains([' ', '\t', '\n', '*', '?', '[']))
}

/// Returns whether an argument of `git rev-parse` is a revision, or an option that is not printed
/// verbatim.
fn is_plain_rev_parse(arg: &str) -> bool {
    !arg.starts_with('-')
        || arg.starts_with("--short")
        || arg.starts_with("--abbrev-ref")
        || words!(
            "--verify --quiet -q --show-toplevel --git-dir --absolute-git-dir",
            "--symbolic-full-name --show-cdup --is-inside-work-tree --git-common-dir"
        )
        .contains(&arg)
}
