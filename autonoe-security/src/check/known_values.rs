//! Argument lists of a command with variables replaced by the values that the script assigns.

use super::arg::{Arg, Unknown};
use super::braces;
use super::scope::Scope;
use super::survey::{MOST_VALUES, Value};
use crate::check::text::is_digits;
use crate::syntax::{Brace, Operation, Part, Word, static_text};

/// Returns the argument lists that `args` may become: for each variable in them, one list per value
/// that the script assigns to it.
///
/// # Errors
///
/// Returns the argument with too many values.
pub(super) fn variants<'a, 's>(
    scope: &Scope<'s>,
    args: &'a [Arg<'s>],
) -> Result<Vec<Vec<Arg<'s>>>, &'a Arg<'s>> {
    let mut variants = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        for value in values(scope, arg).ok_or(arg)? {
            if variants.len() == MOST_VALUES || !scope.reserve_args(args.len()) {
                return Err(arg);
            }
            let mut variant = args.to_vec();
            variant.splice(at..=at, value);
            variants.push(variant);
        }
    }
    Ok(variants)
}

/// Returns the possible expansions of an argument: a list of arguments for each value of its first
/// variable. `None` if there are too many.
fn values<'s>(scope: &Scope<'s>, arg: &Arg<'s>) -> Option<Vec<Vec<Arg<'s>>>> {
    let Some(Unknown {
        part: Some(part @ Part::Parameter(parameter)),
        quoted,
    }) = arg.unknown
    else {
        return Some(Vec::new());
    };
    let behind = text_after(arg, part);
    let made = |text: &str| -> Vec<Arg<'s>> {
        let text = format!("{}{text}{behind}", arg.text);
        if quoted {
            vec![Arg::plain(text, arg.span)]
        } else {
            let words = text.split_whitespace();
            words
                .map(|word| Arg::plain(word.to_owned(), arg.span))
                .collect()
        }
    };
    let mut values = Vec::new();
    if let Operation::Substitute { word, .. } = &parameter.operation {
        values.extend(static_text(&word.parts).map(|text| made(&text)));
    }
    let Some(variable) = scope.survey().variable(&parameter.name) else {
        return Some(values);
    };
    if !variable.has_few_values() {
        return None;
    }
    for given in &variable.values {
        match given.value {
            Value::String { head, rest } => {
                let text = static_text(rest).map(|text| format!("{head}{text}"));
                values.extend(text.map(|text| made(&text)));
            }
            Value::OneOf(words) => {
                for text in words.iter().flat_map(texts) {
                    if values.len() == MOST_VALUES || !scope.reserve_args(1) {
                        return None;
                    }
                    values.push(made(&text));
                }
            }
            Value::Array(elements) => {
                let words: Vec<String> = elements.iter().filter_map(|it| word(&it.value)).collect();
                values.extend(words.iter().map(|word| made(word)));
                values.push(words.iter().flat_map(|word| made(word)).collect());
            }
            Value::Number | Value::Unknown => {}
        }
    }
    Some(values)
}

/// Returns every text of an argument that is literal, or whose only expansion is the variable of a
/// `for` over known words; `None` if a text is unknown, or for a pattern.
pub(super) fn known_texts(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<Vec<String>> {
    match arg.known() {
        Some(text) => Some(vec![text.to_owned()]),
        None if arg.is_static() => None,
        None => loop_texts(scope, arg),
    }
}

/// Returns every text of an argument whose only expansion is the variable of a `for` over known
/// words, with wildcards; `None` if a text is unknown.
pub(super) fn loop_texts(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<Vec<String>> {
    let part = arg.unknown?.part?;
    let is_expansion = |part: &&Part<'_>| !matches!(part, Part::Literal(_) | Part::Quoted(_));
    let parts = arg.flat_parts();
    let words = scope.loop_words(part, arg.span.start())?;
    if parts.filter(is_expansion).count() != 1 {
        return None;
    }
    let behind = text_after(arg, part);
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        let text = text_of(&word.parts).filter(|text| !text.contains([' ', '\t', '\n']))?;
        all.push(format!("{}{text}{behind}", arg.text));
    }
    (!all.is_empty() && scope.reserve_args(all.len())).then_some(all)
}

/// Returns the texts that the braces of a word make, with their wildcards.
///
/// All numbers of a sequence are alike, so the first and the last are enough.
fn texts(word: &Word<'_>) -> Vec<String> {
    let is_number = |text: &str| is_digits(text);
    if let [Part::Brace(brace)] = &word.parts[..]
        && let Brace::Sequence { first, last, .. } = brace.as_ref()
        && is_number(first)
        && is_number(last)
    {
        return vec![first.to_string(), last.to_string()];
    }
    if let Some(text) = text_of(&word.parts) {
        return vec![text];
    }
    let expanded = braces::expand(&word.parts).unwrap_or_default();
    expanded.iter().filter_map(|parts| text_of(parts)).collect()
}

/// Returns the text of a word, with its wildcards; `None` if it has expansions.
fn word(word: &Word<'_>) -> Option<String> {
    text_of(&word.parts)
}

/// Returns the text of parts, with wildcards; `None` if there are other expansions.
fn text_of(parts: &[Part<'_>]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            Part::Glob(glob) => text.push(*glob),
            _ => return None,
        }
    }
    Some(text)
}

/// Returns the text after `part` in an argument, up to the next expansion.
fn text_after(arg: &Arg<'_>, part: &Part<'_>) -> String {
    let parts = arg.flat_parts();
    let mut text = String::new();
    for other in parts
        .skip_while(|other| !std::ptr::eq(*other, part))
        .skip(1)
    {
        match other {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            _ => break,
        }
    }
    text
}
