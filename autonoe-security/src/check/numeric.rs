//! What arithmetic may look at.
//!
//! Bash evaluates the value of a variable as an expression in turn, and an
//! expression can hold a command: `x='a[$(id)]'; echo $((x))` runs `id`. So
//! every value that gets into arithmetic must be known to be a number.

use super::resolve::plain_text;
use super::scope::Scope;
use super::survey::{Given, Value, literal};
use crate::syntax::{
    ArgWord, Arithmetic, ArithmeticToken, Brace, CommandKind, Connector, Operation, Parameter,
    Part, Script, SimpleCommand, Span, Subscript, Word,
};
use crate::{Denial, Rule};

/// How many variables are followed that are set to one another.
const DEEPEST: usize = 8;

/// Checks that an expression looks at numbers only.
pub(crate) fn check(scope: &Scope<'_>, arithmetic: &Arithmetic<'_>) -> Result<(), Denial> {
    let mut free_depth = 0_usize;
    let mut opens_free = false;
    for token in &arithmetic.tokens {
        // The subscript of an associative array is a word, not an expression.
        if let ArithmeticToken::Operator(operator) = token {
            match operator.as_ref() {
                "[" if opens_free || free_depth > 0 => free_depth += 1,
                "]" => free_depth = free_depth.saturating_sub(1),
                _ => {}
            }
        }
        opens_free = matches!(token, ArithmeticToken::Name { name, span }
            if is_associative(scope, name, *span));
        if free_depth > 0 {
            continue;
        }
        let (is_safe, what, span) = match token {
            ArithmeticToken::Number(_) | ArithmeticToken::Operator(_) => continue,
            ArithmeticToken::Name { name, span } => (
                is_numeric_variable(scope, name, DEEPEST),
                name.as_ref(),
                *span,
            ),
            ArithmeticToken::Part(part) => (
                is_numeric_part(scope, part, DEEPEST),
                name_in(part),
                span_of(part).unwrap_or(arithmetic.span),
            ),
        };
        if !is_safe {
            return Err(deny(what, span));
        }
    }
    Ok(())
}

/// Checks the subscript of the variable `name`.
pub(crate) fn check_subscript(
    scope: &Scope<'_>,
    name: &str,
    subscript: Option<&Subscript<'_>>,
) -> Result<(), Denial> {
    match subscript {
        Some(Subscript::Index(index)) if !is_associative(scope, name, index.span) => {
            check(scope, index)
        }
        _ => Ok(()),
    }
}

/// Checks a word that is compared as a number, which evaluates it.
pub(crate) fn check_operand(scope: &Scope<'_>, word: &Word<'_>) -> Result<(), Denial> {
    let is_safe = match plain_text(&word.parts) {
        Some(text) => is_integer(&text) || is_numeric_variable(scope, &text, DEEPEST),
        None => is_numeric(scope, &word.parts, DEEPEST),
    };
    if is_safe {
        return Ok(());
    }
    let name = word.parts.first().map_or("", name_in);
    Err(deny(name, word.span))
}

/// Tells whether an expansion always yields a number.
pub(crate) fn is_safe_part(scope: &Scope<'_>, part: &Part<'_>) -> bool {
    is_numeric_part(scope, part, DEEPEST)
}

fn deny(name: &str, span: Span) -> Denial {
    let reason = match name {
        "" => "the expression uses a value that may not be a number".to_owned(),
        name => format!("the expression uses '{name}', which may not be a number"),
    };
    Denial::by(Rule::R18, span, reason)
        .instead("set the variable to a number in the same command, or compare with [ ]")
}

fn is_numeric(scope: &Scope<'_>, parts: &[Part<'_>], depth: usize) -> bool {
    !parts.is_empty() && parts.iter().all(|part| is_numeric_part(scope, part, depth))
}

fn is_numeric_part(scope: &Scope<'_>, part: &Part<'_>, depth: usize) -> bool {
    match part {
        Part::Literal(text) | Part::Quoted(text) => is_integer(text),
        Part::DoubleQuoted(inner) => is_numeric(scope, inner, depth),
        // What stands in it is checked where it stands.
        Part::Arithmetic(_) => true,
        Part::Parameter(parameter) => is_numeric_parameter(scope, parameter, depth),
        Part::CommandSubstitution(inner) => prints_a_number(&inner.script),
        Part::Brace(brace) => match brace.as_ref() {
            Brace::Sequence { first, last, .. } => is_integer(first) && is_integer(last),
            Brace::Alternatives(alternatives) => alternatives
                .iter()
                .all(|parts| is_numeric(scope, parts, depth)),
        },
        _ => false,
    }
}

fn is_numeric_parameter(scope: &Scope<'_>, parameter: &Parameter<'_>, depth: usize) -> bool {
    match parameter.operation {
        Operation::Length => true,
        Operation::Value => is_numeric_variable(scope, &parameter.name, depth),
        _ => false,
    }
}

fn is_numeric_variable(scope: &Scope<'_>, name: &str, depth: usize) -> bool {
    if matches!(
        name,
        "?" | "#" | "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "EPOCHSECONDS" | "UID" | "PPID"
    ) {
        // A script that sets one of these gives it a value of its own.
        if scope.survey().variable(name).is_none() {
            return true;
        }
    }
    let (Some(depth), Some(variable)) = (depth.checked_sub(1), scope.survey().variable(name))
    else {
        return false;
    };
    let given = || {
        variable
            .given
            .iter()
            .all(|given| is_number(scope, given, depth))
    };
    variable.is_number.or_find(given)
}

fn is_number(scope: &Scope<'_>, given: &Given<'_>, depth: usize) -> bool {
    match given.value {
        Value::Number => true,
        Value::String { head: "", rest } => is_numeric(scope, rest, depth),
        Value::String { head, rest: [] } => is_integer(head),
        Value::OneOf(words) => words
            .iter()
            .all(|word| is_numeric(scope, &word.parts, depth)),
        Value::Array(elements) => elements
            .iter()
            .all(|element| is_numeric(scope, &element.value.parts, depth)),
        Value::String { .. } | Value::Unknown => false,
    }
}

/// Tells whether `name` is an associative array for sure at the place of `used`.
fn is_associative(scope: &Scope<'_>, name: &str, used: Span) -> bool {
    let variable = scope.survey().variable(name);
    variable.is_some_and(|variable| {
        let declared = variable.associative_from;
        declared.is_some_and(|from| from < used.start()) && !variable.is_unset
    })
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells whether a script prints a number and nothing else.
///
/// `cd` may stand in front, since it prints nothing, and `|| true` or
/// `|| echo 0` behind.
fn prints_a_number(script: &Script<'_>) -> bool {
    let [item] = &script.items[..] else {
        return false;
    };
    let mut counted = false;
    for (connector, pipeline) in &item.pipelines {
        let Some(CommandKind::Simple(last)) = pipeline.commands.last().map(|last| &last.kind)
        else {
            return false;
        };
        let is_alone = pipeline.commands.len() == 1;
        match (connector, counted) {
            (Connector::First | Connector::And, false) if is_alone && is_named(last, "cd") => {}
            (Connector::First | Connector::And, false) if counts(last) => counted = true,
            (Connector::Or, true) if is_alone && is_fallback(last) => {}
            _ => return false,
        }
    }
    counted
}

fn is_named(simple: &SimpleCommand<'_>, name: &str) -> bool {
    words_of(simple).is_some_and(|words| words.first().is_some_and(|first| first == name))
}

fn is_fallback(simple: &SimpleCommand<'_>) -> bool {
    let Some(words) = words_of(simple) else {
        return false;
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["true" | ":"] => true,
        ["echo", number] => is_integer(number),
        _ => false,
    }
}

/// Tells whether the command prints a count or a time.
///
/// `wc` and `grep` print the names of files as well when they are given some,
/// and a name can be an expression too.
fn counts(simple: &SimpleCommand<'_>) -> bool {
    let mut words = simple.words.iter().filter_map(|word| match word {
        ArgWord::Word(word) => Some(word),
        ArgWord::Array(_) => None,
    });
    let Some(name) = words.next().and_then(literal) else {
        return false;
    };
    let (options, operands): (Vec<_>, Vec<_>) = words
        .map(|word| (literal(word), word))
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
    match name.as_str() {
        "wc" => {
            operands.is_empty()
                && options
                    .iter()
                    .all(|(text, _)| !takes_files(text.as_deref()))
        }
        "grep" => {
            let one_file = match &operands[..] {
                [_] => true,
                [_, (_, file)] => is_one_argument(file),
                _ => false,
            };
            let is_plain =
                |(text, _): &(Option<String>, _)| text.as_deref().is_some_and(is_plain_grep_option);
            (has_letter(&['c']) || has("--count")) && options.iter().all(is_plain) && one_file
        }
        "git" => word_is(0, "rev-list") && has("--count"),
        "date" => is_seconds(simple),
        _ => false,
    }
}

/// Tells whether an option of grep changes neither what is printed nor which file is meant.
fn is_plain_grep_option(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => matches!(
            long,
            "count"
                | "ignore-case"
                | "invert-match"
                | "word-regexp"
                | "line-regexp"
                | "extended-regexp"
                | "fixed-strings"
                | "perl-regexp"
                | "no-filename"
                | "no-messages"
        ),
        None => option[1..]
            .bytes()
            .all(|letter| b"cviwxEFPGhsna".contains(&letter)),
    }
}

/// Tells whether `date` prints the seconds since the epoch.
fn is_seconds(simple: &SimpleCommand<'_>) -> bool {
    let words = simple.words.iter().skip(1).map(|word| match word {
        ArgWord::Word(word) => literal(word),
        ArgWord::Array(_) => None,
    });
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

fn takes_files(option: Option<&str>) -> bool {
    option.is_none_or(|option| option.starts_with("--f"))
}

/// Tells whether a word stays one argument whatever its expansions yield.
fn is_one_argument(word: &Word<'_>) -> bool {
    word.parts.iter().all(|part| {
        matches!(
            part,
            Part::Literal(_) | Part::Quoted(_) | Part::DoubleQuoted(_)
        )
    })
}

fn words_of(simple: &SimpleCommand<'_>) -> Option<Vec<String>> {
    simple
        .words
        .iter()
        .map(|word| match word {
            ArgWord::Word(word) => literal(word),
            ArgWord::Array(_) => None,
        })
        .collect()
}

fn name_in<'p>(part: &'p Part<'_>) -> &'p str {
    match part {
        Part::Parameter(parameter) => &parameter.name,
        Part::DoubleQuoted(inner) => inner.first().map_or("", name_in),
        _ => "",
    }
}

fn span_of(part: &Part<'_>) -> Option<Span> {
    match part {
        Part::Parameter(parameter) => Some(parameter.span),
        Part::CommandSubstitution(inner) => Some(inner.span),
        Part::Arithmetic(arithmetic) => Some(arithmetic.span),
        _ => None,
    }
}
